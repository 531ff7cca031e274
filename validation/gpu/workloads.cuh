// The programs. Sizes, buffers and host sides are those of crates/octavo-workload/src/kernels/*.rs; kernels access
// the same global memory. Values are small whole numbers where that makes results exact.
#pragma once

#include "memory.cuh"

constexpr uint64_t MEGABYTE = uint64_t{1} << 20;
// The seed of a run of Octavo that sets none.
constexpr uint64_t OCTAVO_SEED = 1;

// The first element of `count` that differs; `count` if none does.
template <class T>
size_t first_difference(const T *one, const T *other, size_t count) {
    if (std::memcmp(one, other, count * sizeof(T)) == 0) return count;
    return std::mismatch(one, one + count, other).first - one;
}

inline std::string differs(const char *buffer, uint64_t element, double found, double expected) {
    return std::string(buffer) + "[" + std::to_string(element) + "] is " + std::to_string(found) + ", expected " +
           std::to_string(expected);
}

template <class T>
std::string compared(const char *buffer, const void *found, const std::vector<T> &expected) {
    const T *values = static_cast<const T *>(found);
    const size_t at = first_difference(values, expected.data(), expected.size());
    return at == expected.size() ? "" : differs(buffer, at, values[at], expected[at]);
}

template <class T>
Buffer input(const char *name, const std::vector<T> &values) {
    return {name, values.size() * sizeof(T), values.data(), false};
}

// --- vectoradd ----------------------------------------------------------------------------------------------------

__global__ void vectoradd_float(float *a, const float *b, const float *c, uint32_t elements) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) a[i] = b[i] + c[i];
}

class VectorAdd : public Program {
public:
    explicit VectorAdd(double scale) : b_(scaled_length(32 * MEGABYTE / 12, scale, 64)), c_(b_.size()) {
        for (size_t i = 0; i < b_.size(); ++i) {
            b_[i] = static_cast<float>(i & 0xFFFFF);
            c_[i] = static_cast<float>(i * 7 & 0x3FFFF) + 1;
        }
    }

    std::vector<Buffer> buffers() const override {
        return {{"a", b_.size() * 4, nullptr, true}, input("b", b_), input("c", c_)};
    }

    void kernels(Run &run) const override {
        const auto elements = static_cast<uint32_t>(b_.size());
        run.begin();
        launch(vectoradd_float, dim3((elements + 63) / 64), dim3(64), run.gpu<float>(0), run.gpu<const float>(1),
               run.gpu<const float>(2), elements);
        run.end(1);
    }

    std::string wrong(const std::vector<const void *> &host) const override {
        const auto *a = static_cast<const float *>(host[0]);
        for (size_t i = 0; i < b_.size(); ++i) {
            if (a[i] != b_[i] + c_[i]) return differs("a", i, a[i], b_[i] + c_[i]);
        }
        return "";
    }

private:
    std::vector<float> b_, c_;
};

// --- stencil2d ----------------------------------------------------------------------------------------------------

constexpr uint32_t STENCIL_ROWS = 16, STENCIL_COLUMNS = 64;
constexpr float CENTER = 0.25f, CARDINAL = 0.15f, DIAGONAL = 0.05f;

// A block is 64 threads side by side, 16 rows each; blocks are numbered down the columns of the array.
__global__ void StencilKernel(const float *data, float *result, uint32_t pitch, uint32_t group_rows) {
    __shared__ float tile[STENCIL_ROWS + 2][STENCIL_COLUMNS + 2];
    const uint32_t thread = threadIdx.x;
    const uint32_t row = 1 + blockIdx.x % group_rows * STENCIL_ROWS;
    const uint32_t column = 1 + blockIdx.x / group_rows * STENCIL_COLUMNS + thread;
    const size_t first = static_cast<size_t>(row - 1) * pitch + column;
    for (uint32_t i = 0; i < STENCIL_ROWS + 2; ++i) {
        tile[i][thread + 1] = data[first + static_cast<size_t>(i) * pitch];
    }
    if (thread == STENCIL_COLUMNS - 1) {
        for (uint32_t i = 0; i < STENCIL_ROWS + 2; ++i) {
            tile[i][thread + 2] = data[first + static_cast<size_t>(i) * pitch + 1];
        }
    }
    if (thread == 0) {
        for (uint32_t i = 0; i < STENCIL_ROWS + 2; ++i) tile[i][0] = data[first + static_cast<size_t>(i) * pitch - 1];
    }
    __syncthreads();
    for (uint32_t i = 1; i <= STENCIL_ROWS; ++i) {
        const uint32_t j = thread + 1;
        const float center = tile[i][j];
        const float cardinal = tile[i - 1][j] + tile[i + 1][j] + tile[i][j - 1] + tile[i][j + 1];
        const float diagonal = tile[i - 1][j - 1] + tile[i - 1][j + 1] + tile[i + 1][j - 1] + tile[i + 1][j + 1];
        result[first + static_cast<size_t>(i) * pitch] = CENTER * center + CARDINAL * cardinal + DIAGONAL * diagonal;
    }
}

class Stencil2d : public Program {
public:
    explicit Stencil2d(double scale) {
        columns_ = scaled_side(2074, scale, STENCIL_COLUMNS);
        pitch_ = (columns_ + 2 + 15) / 16 * 16;
        rows_ = scaled_length((33 * MEGABYTE / 8) / pitch_, scale, STENCIL_ROWS);
        data_.resize((rows_ + 2) * pitch_);
        for (size_t i = 0; i < data_.size(); ++i) data_[i] = 1 + static_cast<float>(mixed(i) >> 40) / (1 << 24);
        expected_ = data_;
        std::vector<float> other = data_;
        for (uint32_t iteration = 0; iteration < ITERATIONS; ++iteration) {
            in_parallel(rows_, [&](uint64_t begin, uint64_t end) {
                for (uint64_t row = begin + 1; row <= end; ++row) smooth(&expected_[row * pitch_], &other[row * pitch_]);
            });
            expected_.swap(other);
        }
    }

    // Both arrays are inputs: each iteration reads the halo, which none writes.
    std::vector<Buffer> buffers() const override {
        static_assert(ITERATIONS % 2 == 0, "the last launch writes data1");
        Buffer data1 = input("data1", data_);
        data1.output = true;
        return {data1, input("data2", data_)};
    }

    void kernels(Run &run) const override {
        const auto group_rows = static_cast<uint32_t>(rows_ / STENCIL_ROWS);
        const auto groups = group_rows * static_cast<uint32_t>(columns_ / STENCIL_COLUMNS);
        run.begin();
        for (uint32_t iteration = 0; iteration < ITERATIONS; ++iteration) {
            const size_t from = iteration % 2;
            launch(StencilKernel, dim3(groups), dim3(STENCIL_COLUMNS), run.gpu<const float>(from),
                   run.gpu<float>(1 - from), static_cast<uint32_t>(pitch_), group_rows);
        }
        run.end(ITERATIONS);
    }

    // The GPU fuses multiplications and additions, so the last bits may differ.
    std::string wrong(const std::vector<const void *> &host) const override {
        const auto *data1 = static_cast<const float *>(host[0]);
        for (size_t i = 0; i < data_.size(); ++i) {
            if (!(std::fabs(data1[i] - expected_[i]) <= 5e-5f * expected_[i])) {
                return differs("data1", i, data1[i], expected_[i]);
            }
        }
        return "";
    }

private:
    static constexpr uint32_t ITERATIONS = 20;

    void smooth(const float *from, float *to) const {
        const float *above = from - pitch_, *below = from + pitch_;
        for (size_t j = 1; j <= columns_; ++j) {
            const float cardinal = above[j] + below[j] + from[j - 1] + from[j + 1];
            const float diagonal = above[j - 1] + above[j + 1] + below[j - 1] + below[j + 1];
            to[j] = CENTER * from[j] + CARDINAL * cardinal + DIAGONAL * diagonal;
        }
    }

    uint64_t rows_, columns_, pitch_;
    std::vector<float> data_, expected_;
};

// --- matrixmultiplication -----------------------------------------------------------------------------------------

constexpr uint32_t TILE = 32, BLOCK = 4, THREADS = 8;

__device__ inline void add_product(float4 &sum, float factor, const float4 &row) {
    sum.x += factor * row.x;
    sum.y += factor * row.y;
    sum.z += factor * row.z;
    sum.w += factor * row.w;
}

// A block is 8x8 threads of 4x4 elements of C each. Widths are in float4. The warp of CUDA is half of AMD's wavefront:
// where one instruction of 64 lanes loads a row of B, here each of two warps does.
__global__ void mmmKernel_local(const float4 *a, const float4 *b, float4 *c, uint32_t inner, uint32_t columns) {
    __shared__ float4 tile[TILE][THREADS];
    const uint32_t x = threadIdx.x, y = threadIdx.y;
    const uint32_t column = blockIdx.x * THREADS + x;
    const size_t row = (static_cast<size_t>(blockIdx.y) * THREADS + y) * BLOCK;
    float4 sums[BLOCK];
    for (uint32_t part = 0; part < BLOCK; ++part) sums[part] = make_float4(0, 0, 0, 0);
    for (uint32_t first = 0; first < inner; first += THREADS) {
        for (uint32_t part = 0; part < BLOCK; ++part) {
            tile[y * BLOCK + part][x] = a[(row + part) * inner + first + x];
        }
        __syncthreads();
        for (uint32_t quad = 0; quad < THREADS; ++quad) {
            const float4 *rows = b + static_cast<size_t>(first + quad) * BLOCK * columns + column;
            const float4 b0 = rows[0], b2 = rows[2 * static_cast<size_t>(columns)], b1 = rows[columns],
                         b3 = rows[3 * static_cast<size_t>(columns)];
            for (uint32_t part = 0; part < BLOCK; ++part) {
                const float4 factors = tile[y * BLOCK + part][quad];
                add_product(sums[part], factors.x, b0);
                add_product(sums[part], factors.y, b1);
                add_product(sums[part], factors.z, b2);
                add_product(sums[part], factors.w, b3);
            }
        }
        __syncthreads();
    }
    for (uint32_t part = 0; part < BLOCK; ++part) c[(row + part) * columns + column] = sums[part];
}

class MatrixMultiplication : public Program {
public:
    explicit MatrixMultiplication(double scale)
        : side_(scaled_side(1698, scale, TILE)), a_(side_ * side_), b_(side_ * side_), weights_(side_) {
        for (size_t i = 0; i < a_.size(); ++i) {
            a_[i] = static_cast<float>(static_cast<int>(mixed(i) % 9) - 4);
            b_[i] = static_cast<float>(static_cast<int>(mixed(~i) % 9) - 4);
        }
        for (size_t i = 0; i < side_; ++i) weights_[i] = static_cast<double>(mixed(i) >> 54) + 1;
        expected_ = times(a_.data(), times(b_.data(), weights_));
    }

    std::vector<Buffer> buffers() const override {
        return {input("A", a_), input("B", b_), {"C", a_.size() * 4, nullptr, true}};
    }

    void kernels(Run &run) const override {
        const auto groups = static_cast<uint32_t>(side_ / TILE);
        run.begin();
        launch(mmmKernel_local, dim3(groups, groups), dim3(THREADS, THREADS), run.gpu<const float4>(0),
               run.gpu<const float4>(1), run.gpu<float4>(2), static_cast<uint32_t>(side_ / 4),
               static_cast<uint32_t>(side_ / 4));
        run.end(1);
    }

    // C times a vector of random weights must be A times (B times that vector); all are whole numbers, and exact.
    std::string wrong(const std::vector<const void *> &host) const override {
        const std::vector<double> found = times(static_cast<const float *>(host[2]), weights_);
        const size_t at = first_difference(found.data(), expected_.data(), side_);
        return at == side_ ? "" : differs("weighted sum of the row of C", at, found[at], expected_[at]);
    }

private:
    std::vector<double> times(const float *matrix, const std::vector<double> &vector) const {
        std::vector<double> product(side_);
        for (size_t row = 0; row < side_; ++row) {
            // The side is a multiple of 32.
            double sums[4] = {};
            for (size_t i = 0; i < side_; i += 4) {
                for (size_t k = 0; k < 4; ++k) sums[k] += matrix[row * side_ + i + k] * vector[i + k];
            }
            product[row] = sums[0] + sums[1] + sums[2] + sums[3] + 0.0;
        }
        return product;
    }

    size_t side_;
    std::vector<float> a_, b_;
    std::vector<double> weights_, expected_;
};

// --- spmv ---------------------------------------------------------------------------------------------------------

__global__ void spmv_csr_scalar_kernel(const float *values, const float *vector, const uint32_t *columns,
                                       const uint32_t *offsets, uint32_t rows, float *output) {
    const uint32_t row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const uint32_t end = offsets[row + 1];
    float sum = 0;
    for (uint32_t i = offsets[row]; i < end; ++i) {
        const uint32_t column = columns[i];
        sum += values[i] * vector[column];
    }
    output[row] = sum;
}

class Spmv : public Program {
public:
    explicit Spmv(double scale) {
        const uint64_t rows = scaled_side(16384, scale, 1), places = rows * rows;
        if (rows > 65536) fail("spmv has at most 65536 rows: the scale is too large");
        const auto nonzeros = static_cast<uint64_t>(std::max(1.0, std::round(static_cast<double>(places) * 0.01)));
        // The same places as Octavo draws; those drawn twice are drawn anew.
        std::vector<uint64_t> drawn(places / 64 + 1);
        ChaCha8 random(OCTAVO_SEED);
        for (uint64_t count = 0; count < nonzeros;) {
            for (uint64_t missing = nonzeros - count; missing > 0; --missing) {
                const uint64_t place = random.below64(places), bit = uint64_t{1} << place % 64;
                count += (drawn[place / 64] & bit) == 0;
                drawn[place / 64] |= bit;
            }
        }
        columns_.reserve(nonzeros);
        offsets_.assign(1, 0);
        for (uint64_t word = 0; word < drawn.size(); ++word) {
            for (uint64_t bits = drawn[word]; bits != 0; bits &= bits - 1) {
                const uint64_t place = word * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
                while (place >= offsets_.size() * rows) offsets_.push_back(static_cast<uint32_t>(columns_.size()));
                columns_.push_back(static_cast<uint32_t>(place - (offsets_.size() - 1) * rows));
            }
        }
        offsets_.resize(rows + 1, static_cast<uint32_t>(columns_.size()));
        vector_.resize(rows);
        for (uint64_t i = 0; i < rows; ++i) vector_[i] = static_cast<float>(mixed(i) % 64) + 1;
        values_.resize(nonzeros);
        for (uint64_t i = 0; i < nonzeros; ++i) values_[i] = static_cast<float>(mixed(~i) % 16) + 1;
        expected_.resize(rows);
        for (uint64_t row = 0; row < rows; ++row) {
            for (uint32_t i = offsets_[row]; i < offsets_[row + 1]; ++i) {
                expected_[row] += values_[i] * vector_[columns_[i]];
            }
        }
    }

    std::vector<Buffer> buffers() const override {
        return {input("values", values_), input("vector", vector_), input("columns", columns_),
                input("row_offsets", offsets_), {"output", expected_.size() * 4, nullptr, true}};
    }

    void kernels(Run &run) const override {
        const auto rows = static_cast<uint32_t>(vector_.size());
        run.begin();
        launch(spmv_csr_scalar_kernel, dim3((rows + 127) / 128), dim3(128), run.gpu<const float>(0),
               run.gpu<const float>(1), run.gpu<const uint32_t>(2), run.gpu<const uint32_t>(3), rows,
               run.gpu<float>(4));
        run.end(1);
    }

    // Sums of whole numbers below 2^24 are exact.
    std::string wrong(const std::vector<const void *> &host) const override {
        return compared("output", host[4], expected_);
    }

    const std::vector<uint32_t> &offsets() const { return offsets_; }
    const std::vector<uint32_t> &columns() const { return columns_; }

private:
    std::vector<uint32_t> columns_, offsets_;
    std::vector<float> values_, vector_, expected_;
};

// --- bfs-shoc -----------------------------------------------------------------------------------------------------

constexpr uint32_t TEAM = 32, UNREACHED = UINT32_MAX;

// A team of 32 threads, here a warp (on AMD half a wavefront), looks at 32 nodes one after another.
__global__ void BFS_kernel_warp(uint32_t *levels, const uint32_t *offsets, const uint32_t *edges, uint32_t nodes,
                                uint32_t level, uint32_t *flag) {
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t lane = thread % TEAM, first = thread / TEAM * TEAM;
    const uint32_t end = first + TEAM < nodes ? first + TEAM : nodes;
    for (uint32_t node = first; node < end; ++node) {
        if (levels[node] != level) continue;
        const uint32_t begin = offsets[node], neighbours = offsets[node + 1] - begin;
        for (uint32_t i = lane; i < neighbours; i += TEAM) {
            const uint32_t target = edges[begin + i];
            if (levels[target] == UNREACHED) {
                levels[target] = level + 1;
                *flag = 1;
            }
        }
    }
}

class BfsShoc : public Program {
public:
    explicit BfsShoc(double scale) {
        const uint64_t nodes = scaled_length(32 * MEGABYTE / (4 * (2 + DEGREE)), scale, 1);
        if (nodes < 2 || nodes * DEGREE >= uint64_t{1} << 31) fail("the scale is too small or too large for bfs-shoc");
        generate(static_cast<uint32_t>(nodes));
        search();
        levels_.assign(nodes, UNREACHED);
        levels_[0] = 0;
    }

    std::vector<Buffer> buffers() const override {
        Buffer levels = input("levels", levels_), flag = input("flag", flag_);
        levels.output = flag.output = true;
        return {levels, input("edge_offsets", offsets_), input("edges", edges_), flag};
    }

    void kernels(Run &run) const override {
        const auto nodes = static_cast<uint32_t>(levels_.size());
        for (uint32_t level = 0;; ++level) {
            run.begin();
            launch(BFS_kernel_warp, dim3((nodes + 1023) / 1024), dim3(1024), run.gpu<uint32_t>(0),
                   run.gpu<const uint32_t>(1), run.gpu<const uint32_t>(2), nodes, level, run.gpu<uint32_t>(3));
            run.end(1);
            if (run.read(FLAG) == 0) break;
            run.write(FLAG, 0);
        }
    }

    std::string wrong(const std::vector<const void *> &host) const override {
        if (*static_cast<const uint32_t *>(host[FLAG]) != 0) return "the flag is set after the last launch";
        return compared("levels", host[0], expected_);
    }

    const std::vector<uint32_t> &offsets() const { return offsets_; }
    const std::vector<uint32_t> &edges() const { return edges_; }

private:
    static constexpr uint64_t DEGREE = 8;
    static constexpr size_t FLAG = 3;

    // Octavo's graph of shape `random-tree`: node i hangs on a node before it; then random further edges.
    void generate(uint32_t nodes) {
        ChaCha8 random(OCTAVO_SEED);
        std::vector<std::pair<uint32_t, uint32_t>> pairs;
        const size_t wanted = nodes * DEGREE / 2;
        pairs.reserve(wanted);
        for (uint32_t node = 1; node < nodes; ++node) pairs.emplace_back(random.below32(node), node);
        while (pairs.size() < wanted) {
            const uint32_t a = random.below32(nodes), b = random.below32(nodes);
            if (a != b) pairs.emplace_back(a, b);
        }
        offsets_.resize(size_t{nodes} + 1);
        for (const auto &[a, b] : pairs) ++offsets_[size_t{a} + 1], ++offsets_[size_t{b} + 1];
        for (size_t node = 0; node < nodes; ++node) offsets_[node + 1] += offsets_[node];
        std::vector<uint32_t> next = offsets_;
        edges_.resize(2 * pairs.size());
        for (const auto &[a, b] : pairs) edges_[next[a]++] = b, edges_[next[b]++] = a;
    }

    void search() {
        expected_.assign(offsets_.size() - 1, UNREACHED);
        expected_[0] = 0;
        std::vector<uint32_t> frontier = {0}, reached;
        for (uint32_t level = 1; !frontier.empty(); ++level) {
            reached.clear();
            for (const uint32_t node : frontier) {
                for (uint32_t edge = offsets_[node]; edge < offsets_[size_t{node} + 1]; ++edge) {
                    uint32_t &target = expected_[edges_[edge]];
                    if (target == UNREACHED) target = level, reached.push_back(edges_[edge]);
                }
            }
            frontier.swap(reached);
        }
    }

    std::vector<uint32_t> levels_, offsets_, edges_, expected_, flag_ = {0};
};

// --- gups ---------------------------------------------------------------------------------------------------------

__host__ __device__ inline uint64_t next_number(uint64_t number) {
    return number << 1 ^ (static_cast<int64_t>(number) < 0 ? 7 : 0);
}

__global__ void update(uint64_t *table, const uint64_t *starts, uint32_t updates, uint64_t mask) {
    uint64_t number = starts[blockIdx.x * blockDim.x + threadIdx.x];
    for (uint32_t i = 0; i < updates; ++i) {
        table[number & mask] ^= number;
        number = next_number(number);
    }
}

class Gups : public Program {
public:
    explicit Gups(double scale) : table_(scaled_power_of_two(8 * MEGABYTE, scale, 64)) {
        const uint64_t total = table_.size() * 4, threads = std::min(total, uint64_t{1} << 18);
        updates_ = static_cast<uint32_t>(total / threads);
        for (size_t i = 0; i < table_.size(); ++i) table_[i] = i;
        starts_.reserve(threads);
        const uint64_t mask = table_.size() - 1;
        expected_.assign(table_.begin(), table_.begin() + std::min<size_t>(table_.size(), 1 << 20));
        uint64_t number = 1;
        for (uint64_t thread = 0; thread < threads; ++thread) {
            starts_.push_back(number);
            for (uint32_t i = 0; i < updates_; ++i) {
                if ((number & mask) < expected_.size()) expected_[number & mask] ^= number;
                number = next_number(number);
            }
        }
    }

    std::vector<Buffer> buffers() const override {
        Buffer table = input("table", table_);
        table.output = true;
        return {table, input("starts", starts_)};
    }

    void kernels(Run &run) const override {
        const auto threads = static_cast<uint32_t>(starts_.size()), group = std::min<uint32_t>(threads, 256);
        run.begin();
        launch(update, dim3(threads / group), dim3(group), run.gpu<uint64_t>(0), run.gpu<const uint64_t>(1), updates_,
               static_cast<uint64_t>(table_.size() - 1));
        run.end(1);
    }

    // Updates are not atomic. With all threads in flight, an update is lost where another thread updates the same word
    // between its read and its write: about one in `words / threads`. Twice and a half as many wrong words are allowed;
    // without the updates, 98 % would be wrong. Checked are the first 2^20 words.
    std::string wrong(const std::vector<const void *> &host) const override {
        const auto *table = static_cast<const uint64_t *>(host[0]);
        size_t wrong = 0;
        for (size_t i = 0; i < expected_.size(); ++i) wrong += table[i] != expected_[i];
        const double lost = static_cast<double>(starts_.size()) / static_cast<double>(table_.size());
        const double allowed = 0.01 + 2.5 * (1 - std::exp(-4 * lost));
        const double share = static_cast<double>(wrong) / static_cast<double>(expected_.size());
        if (share <= allowed) return "";
        return "a share " + std::to_string(share) + " of the table is wrong, expected at most " +
               std::to_string(allowed);
    }

private:
    std::vector<uint64_t> table_, starts_, expected_;
    uint32_t updates_;
};

// --- hashjoin -----------------------------------------------------------------------------------------------------

// A slot of the table: the key in the upper half, the value in the lower.
constexpr unsigned long long EMPTY = ~0ull;

__global__ void clear_table(unsigned long long *table, uint32_t slots) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < slots) table[i] = EMPTY;
}

__global__ void build_table(unsigned long long *table, uint32_t mask, const uint32_t *keys, const uint32_t *values,
                            uint32_t rows) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    const uint32_t key = keys[i];
    const unsigned long long entry = static_cast<unsigned long long>(key) << 32 | values[i];
    uint32_t slot = key & mask;
    while (atomicCAS(&table[slot], EMPTY, entry) != EMPTY) slot = (slot + 1) & mask;
}

// The value that goes with each key of the other column; 0 where there is none.
__global__ void probe_table(const unsigned long long *table, uint32_t mask, const uint32_t *keys, uint32_t *output,
                            uint32_t rows) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    const uint32_t key = keys[i];
    uint32_t slot = key & mask, value = 0;
    for (;;) {
        const unsigned long long entry = table[slot];
        if (entry == EMPTY) break;
        if (static_cast<uint32_t>(entry >> 32) == key) {
            value = static_cast<uint32_t>(entry);
            break;
        }
        slot = (slot + 1) & mask;
    }
    output[i] = value;
}

class HashJoin : public Program {
public:
    explicit HashJoin(double scale) {
        const auto rows = static_cast<uint32_t>(scaled_power_of_two(uint64_t{1} << 19, scale, 256));
        if (rows > 1u << 24) fail("the scale is too large for hashjoin");
        slots_ = 2 * rows;
        build_keys_.resize(rows), values_.resize(rows);
        for (uint32_t i = 0; i < rows; ++i) build_keys_[i] = mixed32(i), values_[i] = i + 1;
        // Half of the other column's keys are in the table.
        probe_keys_.resize(size_t{4} * rows), expected_.resize(probe_keys_.size());
        for (size_t i = 0; i < probe_keys_.size(); ++i) {
            const auto row = static_cast<uint32_t>(mixed(i) % slots_);
            probe_keys_[i] = mixed32(row);
            expected_[i] = row < rows ? row + 1 : 0;
        }
    }

    std::vector<Buffer> buffers() const override {
        return {input("build_keys", build_keys_), input("build_values", values_),
                {"table", size_t{slots_} * 8, nullptr, false}, input("probe_keys", probe_keys_),
                {"output", expected_.size() * 4, nullptr, true}};
    }

    void kernels(Run &run) const override {
        const auto built = static_cast<uint32_t>(build_keys_.size()), probed = static_cast<uint32_t>(expected_.size());
        auto *table = run.gpu<unsigned long long>(2);
        const uint32_t mask = slots_ - 1;
        run.begin();
        launch(clear_table, dim3(slots_ / 256), dim3(256), table, slots_);
        launch(build_table, dim3(built / 256), dim3(256), table, mask, run.gpu<const uint32_t>(0),
               run.gpu<const uint32_t>(1), built);
        launch(probe_table, dim3(probed / 256), dim3(256), static_cast<const unsigned long long *>(table), mask,
               run.gpu<const uint32_t>(3), run.gpu<uint32_t>(4), probed);
        run.end(3);
    }

    std::string wrong(const std::vector<const void *> &host) const override {
        return compared("output", host[4], expected_);
    }

private:
    uint32_t slots_;
    std::vector<uint32_t> build_keys_, values_, probe_keys_, expected_;
};
