/* Loads a library for itself alone, as Python does, and calls it. */
#include <dlfcn.h>

int main(void) {
    void *library = dlopen("libplugin.so", RTLD_LAZY | RTLD_LOCAL);
    int (*used)(void) = 0;
    if (library) *(void **)&used = dlsym(library, "used");
    return used ? used() : 1;
}
