// The C++ side of octavo.h: machines that close themselves, and answers without out-parameters. C++17, header only.
#ifndef OCTAVO_HPP
#define OCTAVO_HPP

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "octavo.h"

namespace octavo {

/// What a call that has no answer says.
class error : public std::runtime_error {
public:
    error(octavo_status status, const std::string &message) : std::runtime_error(message), status_(status) {}
    octavo_status status() const noexcept { return status_; }

private:
    octavo_status status_;
};

enum class placement : octavo_placement { device = OCTAVO_DEVICE, managed = OCTAVO_MANAGED, pinned = OCTAVO_PINNED };

/// What is known of a data structure: the fields of octavo_data, to be set one by one.
struct data : octavo_data {
    explicit data(std::uint64_t size) : octavo_data{} {
        struct_size = sizeof(octavo_data);
        bytes = size;
    }
};

/// Where to allocate it.
struct answer : octavo_answer {
    answer() : octavo_answer{} { struct_size = sizeof(octavo_answer); }
    octavo::placement where() const noexcept { return static_cast<octavo::placement>(placement); }
    /// The term that decides, by name.
    const char *why() const noexcept { return octavo_term_name(dominant); }
};

/// The constants of a machine. May be moved; may be asked by several threads at once.
class machine {
public:
    /// Of a file, of $OCTAVO_CONSTANTS, or built in. Throws `error` if there is a file that cannot be used.
    explicit machine(const std::string &path = {}) {
        char message[512] = "";
        octavo_machine *opened = nullptr;
        const octavo_status status =
            octavo_open(path.empty() ? nullptr : path.c_str(), &opened, message, sizeof message);
        handle_.reset(opened);
        if (status < 0) throw error(status, message);
        assumed_ = status == OCTAVO_ASSUMED_MACHINE;
    }

    /// Whether none was given, so that answers are for the built-in machine.
    bool assumed() const noexcept { return assumed_; }
    const char *name() const noexcept { return octavo_machine_name(handle_.get()); }

    /// Where to allocate one data structure. Throws `error`.
    answer get_placement(const octavo_data &data) const {
        answer found;
        check(octavo_get_placement(handle_.get(), &data, &found));
        return found;
    }

    /// Where to allocate several under a budget of device memory, in bytes; 0 is all of it. Throws `error`.
    std::vector<answer> get_placements(const std::vector<data> &asked, std::uint64_t budget = 0) const {
        static_assert(sizeof(data) == sizeof(octavo_data) && sizeof(answer) == sizeof(octavo_answer),
                      "arrays of them are arrays of the C structures");
        std::vector<answer> found(asked.size());
        check(octavo_get_placements(handle_.get(), asked.data(), asked.size(), budget, found.data()));
        return found;
    }

private:
    struct close {
        void operator()(octavo_machine *opened) const noexcept { octavo_close(opened); }
    };

    static void check(octavo_status status) {
        if (status < 0) throw error(status, octavo_status_text(status));
    }

    std::unique_ptr<octavo_machine, close> handle_;
    bool assumed_ = false;
};

}  // namespace octavo

#endif
