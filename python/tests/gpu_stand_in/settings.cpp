// What the environment asks for, what the log gets, and how calls are refused.
#include "stand_in.h"

#include <stdio.h>
#include <stdlib.h>

namespace stand_in {

uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, nullptr, 10) : otherwise;
}

void note(const std::string &line)
{
    const char *path = getenv("OCTAVO_STAND_IN_LOG");
    if (!path) return;
    FILE *file = fopen(path, "a");
    if (!file) return;
    fprintf(file, "%s\n", line.c_str());
    fclose(file);
}

Result refuse(const char *call, const std::string &why, Result result)
{
    fprintf(stderr, "stand-in: %s refuses: %s\n", call, why.c_str());
    note(std::string("refused ") + call + " " + why);
    return result;
}

bool failing(const char *call)
{
    const char *wanted = getenv("OCTAVO_STAND_IN_FAIL");
    return wanted && strcmp(wanted, call) == 0;
}

}  // namespace stand_in
