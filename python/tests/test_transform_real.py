"""Programs as people have them: headers of C++ and of the toolkit, and code that Octavo's declarations do not cover."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import missing

if importlib.util.find_spec("clang") is None:
    missing("libclang, which comes with `make`,")

from octavo.transform import front_end, transform

ROOT = Path(__file__).parents[2]
RUNTIME = "#include <cuda_runtime.h>\n"
KERNEL = "__global__ void k(float *p) { p[threadIdx.x] = 1; }\n"


@pytest.fixture(autouse=True)
def no_toolkit(monkeypatch):
    """As on a machine without CUDA, unless a test says otherwise."""
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)


@pytest.fixture
def source(tmp_path):
    """Write a program and transform it."""

    def written(text: str):
        path = tmp_path / "program.cu"
        path.write_text(text)
        return transform(path)

    return written


def main(body: str, before: str = "") -> str:
    return f"{RUNTIME}{before}{KERNEL}int main() {{\n{body}\n}}\n"


WHOLE = "float *d; cudaMalloc(&d, 64);\n{}\nk<<<1, 32>>>(d); cudaFree(d);"


# What parses


@pytest.mark.parametrize("header", ["memory", "future", "regex", "filesystem", "vector", "cmath", "algorithm"])
@pytest.mark.parametrize("first", [True, False])
def test_headers_of_the_cpp_library_parse(source, header, first):
    """`__noinline__` as a macro would break most of them."""
    include = f"#include <{header}>\n"
    result = source((include if first else "") + main(WHOLE.format(""), "" if first else include))
    assert [each.name for each in result.buffers] == ["d"]
    assert front_end.problems(front_end.parse(result.path, front_end.Reading())) == []  # None in the header itself.


@pytest.mark.parametrize(
    ("header", "use"),
    [
        ("cuda_fp16.h", "__half *h; cudaMalloc(&h, 4); cudaFree(h); half one = __float2half(1.f);"),
        ("cuda_bf16.h", "__nv_bfloat16 *h; cudaMalloc(&h, 4); cudaFree(h);"),
        ("mma.h", "half *h; cudaMalloc(&h, 4); cudaFree(h);"),
        ("curand_kernel.h", "curandState *h; cudaMalloc(&h, 4); cudaFree(h);"),
        ("cuComplex.h", "cuComplex *h; cudaMalloc(&h, 4); cudaFree(h);"),
        ("vector_types.h", "float4 *h; cudaMalloc(&h, 4); cudaFree(h);"),
        ("cuda.h", "float *h; cudaMalloc(&h, 4); cudaFree(h); CUdevice device; cuInit(0); cuDeviceGet(&device, 0);"),
        (
            "cooperative_groups.h",
            "float *h; cudaMalloc(&h, 4); cudaFree(h); void *with[] = {nullptr};"
            "cudaLaunchCooperativeKernel(k, dim3(1), dim3(1), with);",
        ),
    ],
)
def test_headers_of_the_toolkit_are_not_needed(source, header, use):
    result = source(main(WHOLE.format(use), f"#include <{header}>\n"))
    assert {each.name for each in result.buffers} == {"d", "h"}
    assert result.unread == ()


@pytest.mark.parametrize(
    "use",
    [
        'char text[9]; strcpy(text, "a"); memset(text, 0, 9); printf("%d", (int)strlen(text));',
        "srand(time(NULL)); double s = ceil(2.5) + sqrt(2.) + pow(2., 3.) + fabs(-1.f) + log2f(8); (void)s;",
        "clock_t t = clock(); assert(t); if (!t) exit(EXIT_FAILURE);",
        "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); p.textureAlignment = p.ECCEnabled + p.clockRate;",
        "cudaThreadExit(); cudaThreadSynchronize();",
        "cudaMemLocation at = {cudaMemLocationTypeDevice, 0}; float *m; cudaMallocManaged(&m, 4);"
        "cudaMemPrefetchAsync(m, 4, at, 0, 0); cudaMemAdvise(m, 4, cudaMemAdviseSetReadMostly, at);",
        "cudaGraph_t g; cudaGraphExec_t e; cudaGraphCreate(&g, 0); cudaGraphInstantiate(&e, g, NULL, NULL, 0);"
        "cudaGraphInstantiate(&e, g, 0); cudaGraphLaunch(e, 0);",
        "cudaArray_t a; cudaChannelFormatDesc f = cudaCreateChannelDesc<float>(); cudaMallocArray(&a, &f, 4, 4);",
        "struct timeval t; t.tv_sec = 0;",
        "register int fast = 0; char small[] = {(char)fast, 300 - 45};",
    ],
)
def test_what_the_header_of_the_runtime_brings_along_is_known(source, use):
    result = source(main(WHOLE.format(use)))
    assert [each.name for each in result.buffers] == ["d"]
    assert result.unread == ()


def test_a_launch_may_have_spaces_in_its_marks(source):
    result = source(main("float *d; cudaMalloc(&d, 64); /* \u00fc */ k << < 1, 32 >> > (d); cudaFree(d);"))
    assert b'octavo_buffer("d").launch(1, 32)' in result.after
    assert b"k << < 1, 32 >> > (d)" in result.after
    assert result.unread == ()


def test_the_code_of_kernels_need_not_be_known(source):
    """A kernel gets a copy of the pointer: it cannot free it or give it to the host."""
    kernel = "__global__ void x(float *d) { auto t = wmma::tile(d); asm_of_tomorrow(d, t); }\n"
    result = source(main(WHOLE.format("x<<<1, 1>>>(d);"), kernel))
    assert [each.name for each in result.buffers] == ["d"]
    assert result.unread == ()


def test_an_allocation_in_a_kernel_is_told_from_code_that_does_not_parse(source):
    result = source(main("", "__global__ void own(float **p) { float *d; cudaMalloc(&d, 4); cudaFree(d); *p = 0; }\n"))
    assert not result.changed
    assert all("code of the device" in each.why for each in result.skipped)


# Headers


def test_headers_are_found_in_the_folders_around(tmp_path):
    (tmp_path / "Common").mkdir()
    (tmp_path / "Common" / "helper_own.h").write_text("#include <other_own.h>\n#define CHECK(x) check(x)\n")
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "other_own.h").write_text("static void check(int) {}\n")
    folder = tmp_path / "Samples" / "a" / "b"
    folder.mkdir(parents=True)
    path = folder / "a.cu"
    path.write_text(main("float *d; CHECK(cudaMalloc(&d, 4)); CHECK(cudaFree(d));", "#include <helper_own.h>\n"))
    assert transform(path).unread == ()
    (tmp_path / "Samples" / ".git").mkdir()  # Another program begins here.
    assert transform(path).unread[0].why == "'helper_own.h' file not found"


def test_a_toolkit_beside_octavos_declarations_adds_what_they_lack(tmp_path, monkeypatch):
    """The toolkit's own headers of the runtime ask for nvcc. Those of its libraries include them by their names."""
    include = tmp_path / "toolkit" / "include"
    include.mkdir(parents=True)
    for name in ("cuda_runtime.h", "cuda_fp16.h", "cuda.h"):
        (include / name).write_text("#error made for nvcc\n")
    (include / "driver_types.h").write_text(
        "#if !defined(__DRIVER_TYPES_H__)\n#define __DRIVER_TYPES_H__\ntypedef int cudaStream_t;\n#endif\n"
    )
    (include / "cublas_own.h").write_text(
        '#include "driver_types.h"\n#include "cuda_fp16.h"\nint gemm(cudaStream_t);\n'
    )
    path = tmp_path / "a.cu"
    path.write_text(
        main(WHOLE.format("cudaStream_t s = 0; gemm(s);"), "#include <cuda_fp16.h>\n#include <cublas_own.h>\n")
    )
    alone = transform(path)
    assert [each.name for each in alone.buffers] == ["d"]
    assert len(alone.unread) == 2  # The header, and the call.
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "toolkit"))
    with_toolkit = transform(path)
    assert (with_toolkit.after, with_toolkit.unread) == (alone.after, ())
    named = transform(path, include=[include])
    assert (named.after, named.unread) == (alone.after, ())


def test_the_header_of_octavo_stands_outside_of_extern_c(source):
    text = main(WHOLE.format(""))
    wrapped = f'#ifdef __cplusplus\nextern "C" {{\n#endif\n#include <stdio.h>\n{text}#ifdef __cplusplus\n}}\n#endif\n'
    result = source(wrapped)
    assert [each.name for each in result.buffers] == ["d"]
    assert result.after.startswith(b"#include <octavo/transform.h>\n")


# What does not parse

UNKNOWN = [
    "foo(d);",
    "int x = foo(d) + 1;",
    "foo(1)->free(d);",
    "thrust::device_ptr<float> t(d);",
    "thrust::sort(d, d + 16);",
    "if (foo(d) != OK) return 1;",
    "for (int i = 0; i < M; ++i) foo(d + i);",
    "while (M) { foo(d); }",
    "Handle h{d};",
    "auto h = foo{d};",
    "foo = d;",
    "float *e = foo ? d : nullptr;",
    "return foo(d);",
    "other<<<M, 1>>>(d);",
    "cublas(h, CUBLAS_OP_N, d, 1);",
    "cudaMemcpy(d, h_d, 4, cudaMemcpyHostToDevice);",
    "k<<<1, M>>>(d);",
    "d = foo(4);",
    "int x = d + 3};",
    "takes(d, undeclared);",
    "takes(d, 1, 2);",
    "struct Kept { Unknown a = d; };",
    "#pragma once more\nfoo (\n  1,\n  d);",
]


_UNBALANCED = ("int x = d + 3};", UNKNOWN[-1])
"""One ends the function; the other has a directive in it."""


@pytest.mark.parametrize("use", UNKNOWN)
def test_what_unread_code_names_is_left(source, use):
    """Each of them might keep or free the buffer."""
    before = "void takes(float *p, int n) {}\n"
    clear = source(main(WHOLE.format("foo(1);"), before))
    assert [each.name for each in clear.buffers] == ["d"]
    result = source(main(WHOLE.format(use), before))
    assert not result.changed
    assert any("parse" in each.why for each in result.skipped), result.skipped


@pytest.mark.parametrize("use", [use for use in UNKNOWN if use not in _UNBALANCED])
def test_what_unread_code_does_not_name_is_changed(source, use):
    body = f"float *d = 0; float *c; cudaMalloc(&c, 64);\n{use}\n}}\n"
    body += "int more() { float *o; cudaMalloc(&o, 4); cudaFree(o);"
    result = source(main(body, "void takes(float *p, int n) {}\n"))
    assert {each.name for each in result.buffers} == {"c", "o"}
    assert result.unread
    assert {each.function for each in result.unread} <= {"main"}


def test_a_global_that_unread_code_of_any_function_names_is_left(source):
    before = "static float *g;\nvoid begin() { cudaMalloc(&g, 4); }\n"
    assert source(main("foo(1); k<<<1, 1>>>(g);", before)).changed
    assert not source(main("foo(g);", before)).changed
    assert not source(main("", before + "Unknown end(Other o) { frees(g); }\n")).changed
    assert not source(main("", before + "UNKNOWN_MACRO(g)\n")).changed
    assert not source(main("", before + "class Owner : Unknown { ~Owner() { frees(g); } };\n")).changed


def test_a_wrapper_that_is_not_known_hides_no_allocation(source):
    result = source(main("float *d; CHECK(cudaMalloc((void **)&d, 4)); k<<<1, 1>>>(d); CHECK(cudaFree(d));"))
    assert b'CHECK(octavo_malloc((void **)&d, 4, octavo_buffer("d").launch(1, 1)))' in result.after
    assert b"CHECK(octavo_free(d))" in result.after


def test_unread_code_is_listed_with_place_function_and_reason(source, tmp_path):
    result = source("#include <nowhere.h>\n" + main(WHOLE.format("foo(1); foo(2);\nbar(3);")))
    assert [(each.line, each.function) for each in result.unread] == [(1, None), (6, "main"), (7, "main")]
    assert "nowhere.h" in result.unread[0].why
    assert "'foo'" in result.unread[1].why
    assert result.to_dict()["unread"][2]["line"] == 7
    command = [sys.executable, "-m", "octavo", "transform", "program.cu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "program.cu:6:1" in done.stderr
    assert "-I" in done.stderr


def test_the_rate_of_a_checkout_is_counted(tmp_path):
    """Three files with an allocation: one as it should be, one that parses in part, one that hides its allocation."""
    (tmp_path / "good.cu").write_text(main(WHOLE.format("")))
    (tmp_path / "part.cu").write_text(main(WHOLE.format("foo(1);")))
    (tmp_path / "hidden.cu").write_text(main(WHOLE.format("foo(d);")))
    (tmp_path / "none.cu").write_text(main("// cudaMalloc(&d, 4);"))
    command = [sys.executable, ROOT / "tools" / "transform" / "rate.py", "--list", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    total = next(line for line in done.stdout.splitlines() if line.startswith("all"))
    assert total.split() == ["all", "3", "1", "33.3%", "2", "66.7%", "2", "66.7%"]
    assert str(tmp_path / "hidden.cu") in done.stdout
    assert str(tmp_path / "part.cu") not in done.stdout
