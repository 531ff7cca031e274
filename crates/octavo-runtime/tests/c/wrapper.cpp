// The wrapper: moved machines, answers under a budget, and errors as exceptions.
#include <octavo.hpp>

#include <cstdio>
#include <utility>

int main(int, char **arguments) {
    octavo::machine opened;
    octavo::machine machine = std::move(opened);
    std::printf("%s assumed=%d\n", machine.name(), machine.assumed());

    octavo::data small(64u << 20);
    small.flags = OCTAVO_SWEPT;
    small.copied_in = small.bytes;
    small.visits = 8;
    octavo::data large(small);
    large.bytes = large.copied_in = 1u << 30;
    for (std::uint64_t budget : {std::uint64_t{0}, std::uint64_t{100} << 20, std::uint64_t{1} << 20}) {
        const auto found = machine.get_placements({small, large}, budget);
        std::printf("%s %s\n", octavo_placement_name(found[0].placement), octavo_placement_name(found[1].placement));
    }
    std::printf("alone: %d %s\n", machine.get_placement(small).where() == octavo::placement::device,
                machine.get_placement(small).why());
    try {
        octavo::data nothing(0);
        machine.get_placement(nothing);
    } catch (const octavo::error &error) {
        std::printf("%d %s\n", error.status(), error.what());
    }
    try {
        octavo::machine missing(arguments[1]);
    } catch (const octavo::error &error) {
        std::printf("%d\n", error.status());
    }
}
