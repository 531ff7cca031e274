// Programs that do on a real GPU what Octavo's workloads of the same names simulate, timed phase by phase on each kind
// of memory. README.md says how to build, run and read them.
//
//     programs NAME SCALE KIND [REPETITIONS]      KIND may be `all`
//     programs all [SECONDS]
#include "recorder.cuh"
#include "workloads.cuh"

namespace {

template <class Made>
std::unique_ptr<Program> make(double scale) {
    return std::make_unique<Made>(scale);
}

struct Entry {
    const char *name;
    std::unique_ptr<Program> (*make)(double scale);
    // Scales of the warm-up, and the two of `programs all`.
    double tiny, small, large;
};

constexpr Entry ENTRIES[] = {
    {"vectoradd", make<VectorAdd>, 1.0 / 256, 1, 8},
    {"stencil2d", make<Stencil2d>, 1.0 / 256, 1, 8},
    {"matrixmultiplication", make<MatrixMultiplication>, 1.0 / 256, 1, 4},
    {"spmv", make<Spmv>, 1.0 / 256, 2, 8},
    {"bfs-shoc", make<BfsShoc>, 1.0 / 256, 1, 8},
    {"gups", make<Gups>, 1.0 / 256, 0.5, 2},
    {"hashjoin", make<HashJoin>, 1.0 / 256, 1, 8},
};
constexpr unsigned SMALL_REPETITIONS = 5, LARGE_REPETITIONS = 3;

bool all_right = true;

Recorder &recorder() {
    static Recorder one;
    return one;
}

void header() {
    std::puts("program,scale,kind,repetition,bytes,launches,allocate,host_write,copy_in,kernels,kernels_event,copy_out,"
              "host_read,free,total");
}

// One cold run, and its row if the results are right.
void measure(const Entry &entry, const Program &program, double scale, Kind kind, unsigned repetition) {
    Run run(program, kind);
    recorder().begin();
    const std::string wrong = run.go();
    char scale_text[32];
    std::snprintf(scale_text, sizeof scale_text, "%.10g", scale);
    recorder().end(std::string(entry.name) + "-" + scale_text + "-" + name_of(kind) + "-" + std::to_string(repetition));
    if (!wrong.empty()) {
        std::fprintf(stderr, "programs: wrong result of %s, scale %g, %s, repetition %u: %s\n", entry.name, scale,
                     name_of(kind), repetition, wrong.c_str());
        all_right = false;
        return;
    }
    const Phases &phases = run.phases;
    std::printf("%s,%.10g,%s,%u,%zu,%u,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f\n", entry.name, scale,
                name_of(kind), repetition, program.bytes(), run.launches, phases.allocate, phases.host_write,
                phases.copy_in, phases.kernels, phases.kernels_event, phases.copy_out, phases.host_read, phases.free,
                phases.total());
    std::fflush(stdout);
}

// Creates the context, loads the kernels and uses each kind once.
void warm_up(const Entry &entry, const std::vector<Kind> &kinds) {
    const std::unique_ptr<Program> program = entry.make(entry.tiny);
    for (const Kind kind : kinds) {
        const std::string wrong = Run(*program, kind).go();
        if (!wrong.empty()) fail(std::string("warm-up of ") + entry.name + ", " + name_of(kind) + ": " + wrong);
    }
}

std::vector<Kind> possible(const std::vector<Kind> &kinds) {
    std::vector<Kind> possible;
    for (const Kind kind : kinds) {
        if (const char *why = obstacle(kind)) {
            std::fprintf(stderr, "programs: skipped kind %s: %s\n", name_of(kind), why);
        } else {
            possible.push_back(kind);
        }
    }
    return possible;
}

// All programs. Repetitions take turns, so that a drift of the machine does not fall on one program; when the time is
// over, no more repetitions follow, but each program has run once.
void run_all(double seconds) {
    const double begin = now();
    const std::vector<Kind> kinds = possible({std::begin(ALL_KINDS), std::end(ALL_KINDS)});
    struct Job {
        const Entry *entry;
        double scale;
        unsigned repetitions;
        std::unique_ptr<Program> program;
    };
    std::vector<Job> jobs;
    for (const Entry &entry : ENTRIES) {
        jobs.push_back({&entry, entry.small, SMALL_REPETITIONS, nullptr});
        jobs.push_back({&entry, entry.large, LARGE_REPETITIONS, nullptr});
    }
    std::vector<std::thread> makers;
    for (Job &job : jobs) makers.emplace_back([&job] { job.program = job.entry->make(job.scale); });
    for (std::thread &maker : makers) maker.join();
    std::fprintf(stderr, "programs: inputs and expected results are ready after %.1f s\n", now() - begin);
    for (const Entry &entry : ENTRIES) warm_up(entry, kinds);
    std::fprintf(stderr, "programs: warm after %.1f s\n", now() - begin);
    for (unsigned repetition = 1; repetition <= SMALL_REPETITIONS; ++repetition) {
        for (const Job &job : jobs) {
            if (repetition > job.repetitions) continue;
            if (repetition > 1 && now() - begin > seconds) {
                std::fprintf(stderr, "programs: stopped in repetition %u: %.0f s are over\n", repetition, seconds);
                return;
            }
            for (const Kind kind : kinds) measure(*job.entry, *job.program, job.scale, kind, repetition);
        }
    }
    std::fprintf(stderr, "programs: all done after %.1f s\n", now() - begin);
}

// A positive number, or a fraction such as 1/4.
double number(const char *text) {
    char *end = nullptr;
    double value = std::strtod(text, &end);
    if (end != text && *end == '/') {
        const char *denominator = end + 1;
        value /= std::strtod(denominator, &end);
        if (end == denominator) value = 0;
    }
    if (!(value > 0 && std::isfinite(value)) || *end != 0) {
        fail(std::string("expected a positive number such as 0.25 or 1/4, found ") + text);
    }
    return value;
}

std::vector<Kind> kinds_of(const std::string &text) {
    if (text == "all") return {std::begin(ALL_KINDS), std::end(ALL_KINDS)};
    // Octavo's name.
    if (text == "explicit") return {Kind::device};
    for (const Kind kind : ALL_KINDS) {
        if (text == name_of(kind)) return {kind};
    }
    fail("no kind of memory is called " + text + "; expected device, managed, managed-prefetch, pinned, system or all");
}

const Entry &entry_of(const std::string &name) {
    for (const Entry &entry : ENTRIES) {
        if (name == entry.name) return entry;
    }
    std::string names;
    for (const Entry &entry : ENTRIES) names += std::string(" ") + entry.name;
    fail("no program is called " + name + "; there are" + names + " and all");
}

} // namespace

int main(int count, char **arguments) {
    if (count >= 2 && count <= 3 && std::string(arguments[1]) == "all") {
        const double seconds = count == 3 ? number(arguments[2]) : 25;
        recorder();
        CHECK(cudaFree(nullptr));
        header();
        run_all(seconds);
    } else if (count == 4 || count == 5) {
        const Entry &entry = entry_of(arguments[1]);
        const double scale = number(arguments[2]);
        const std::vector<Kind> named = kinds_of(arguments[3]);
        const double repetitions = count == 5 ? number(arguments[4]) : SMALL_REPETITIONS;
        recorder();
        CHECK(cudaFree(nullptr));
        const std::vector<Kind> kinds = possible(named);
        const std::unique_ptr<Program> program = entry.make(scale);
        header();
        warm_up(entry, kinds);
        for (unsigned repetition = 1; repetition <= repetitions; ++repetition) {
            for (const Kind kind : kinds) measure(entry, *program, scale, kind, repetition);
        }
    } else {
        fail("usage: programs NAME SCALE KIND [REPETITIONS], or programs all [SECONDS]");
    }
    return all_right ? 0 : 1;
}
