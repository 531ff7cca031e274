"""CUDA programs rewritten to ask for the placement of their buffers: what changes, and above all what does not."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import missing, refused, tool

if importlib.util.find_spec("clang") is None:
    missing("libclang, which comes with `make`,")

from octavo.transform import front_end, include_folder, transform
from octavo.transform.edits import Edit, apply
from octavo.transform.front_end import Reading, TransformError

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples" / "transform").glob("*.cu"))
RUNTIME = "#include <cuda_runtime.h>\n"
KERNEL = "__global__ void k(float *p) { p[threadIdx.x] = 1; }\n"


@pytest.fixture
def source(tmp_path):
    """Write a program and transform it."""

    def written(text: str | bytes):
        path = tmp_path / "program.cu"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return transform(path)

    return written


def main(body: str) -> str:
    return f"{RUNTIME}{KERNEL}int main() {{\n{body}\n}}\n"


def undone(result) -> bytes:
    """The text before, from the text after and the edits."""
    pieces, before, after = [], 0, 0
    for edit in result.edits:
        same = edit.start - before
        pieces += [result.after[after : after + same], edit.old]
        after += same
        assert result.after[after : after + len(edit.new)] == edit.new
        before, after = edit.end, after + len(edit.new)
    return b"".join([*pieces, result.after[after:]])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_change_and_compile_before_and_after(path, tmp_path):
    result = transform(path)
    assert result.changed
    assert undone(result) == result.before == path.read_bytes()
    out = tmp_path / "out.cu"
    out.write_bytes(result.after)
    for file in (path, out):
        front_end.parse(file, Reading())  # Raises if it does not.
    assert b"#include <octavo/transform.h>" in result.after
    # Between two edits a line keeps its comments; without them it has the same ones.
    assert result.after.count(b"//") == result.before.count(b"//")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_second_time_there_is_nothing_left_to_do(path, tmp_path):
    out = tmp_path / "out.cu"
    out.write_bytes(transform(path).after)
    again = transform(out)
    assert not again.changed
    assert again.after == out.read_bytes()
    assert again.diff == ""


def test_all_calls_of_the_examples_that_are_understood_change():
    changed = {
        path.stem: [(each.name, each.kind, each.launch) for each in transform(path).buffers] for path in EXAMPLES
    }
    assert changed == {
        "black_scholes": [
            ("price", "managed", True),
            ("strike", "managed", True),
            ("years", "managed", True),
            ("call", "pinned", True),
        ],
        "fir": [(name, "device", True) for name in ("d_input", "d_output", "d_taps", "d_history")],
        "histogram": [("d_pixels", "device", True), ("d_bins", "device", True)],
        "kmeans": [("d_features_", "device", False), ("d_centres_", "device", False), ("member_", "managed", False)],
        "left_alone": [("kept", "device", True)],
        "pagerank": [("d_rows", "device", True), ("d_columns", "device", True), ("d_values", "device", True)],
    }


def test_what_is_left_alone_is_listed_with_the_reason():
    result = transform(ROOT / "examples" / "transform" / "left_alone.cu")
    unknown = "the buffer is not allocated in a variable of this file that is understood"
    assert [(each.line, each.call, each.buffer, each.why) for each in result.skipped] == [
        (7, "cudaMalloc", None, "it is part of a macro, or of code that is not compiled with these settings"),
        (16, "cudaMalloc", None, "it stands in a template"),
        (22, "cudaMalloc", "memory", "a function returns it (line 23)"),
        (26, "cudaMalloc", None, "it does not say which variable gets the memory"),
        (40, "cudaMalloc", None, "a macro writes it"),
        (41, "cudaMalloc", "doubled", "`cudaMalloc`: a macro uses it more than once (line 41)"),
        (42, "cudaMalloc", "aliased", "another variable begins with its value (line 43)"),
        (44, "cudaMalloc", "escaped", "`elsewhere`, which is not a function of this file, is given it (line 45)"),
        (
            46,
            "cudaMallocManaged",
            "advised",
            "the program says itself where it is to lie, with cudaMemAdvise (line 47)",
        ),
        (48, "cudaMallocPitch", None, "pitched memory has one placement, the device"),
        (49, "cudaMalloc", None, "it does not say which variable gets the memory"),
        (50, "cudaMalloc", "swayed", "`cudaMemcpy`: from where to where it copies is not written out (line 52)"),
        (52, "cudaMemcpy", "swayed", "`cudaMemcpy`: from where to where it copies is not written out (line 52)"),
        (53, "cudaMallocHost", "staging", "no kernel is given it: it is there for copies (line 53)"),
        (54, "cudaMalloc", "everywhere", "other files can see it (line 10)"),
        (55, "cudaMalloc", "caught", "a lambda has it (line 56)"),
        (56, "cudaFree", None, unknown),
        (60, "cudaMalloc", None, "it is part of a macro, or of code that is not compiled with these settings"),
        (69, "cudaFree", None, unknown),
        (70, "cudaFree", "aliased", "another variable begins with its value (line 43)"),
        (71, "cudaFree", None, unknown),
        (72, "cudaFree", None, unknown),
        (73, "cudaFree", None, unknown),
        (75, "cudaFreeHost", "staging", "no kernel is given it: it is there for copies (line 53)"),
    ]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("float *d; cudaMalloc(&d, 4); float *e = d + 1; cudaFree(e);", "another variable begins with its value"),
        ("float *d, *e; cudaMalloc(&d, 4); e = d; cudaFree(e);", "it is assigned to another pointer"),
        ("float *d, *e = 0; cudaMalloc(&d, 4); d = e;", "another pointer is assigned to it"),
        ("float *d; cudaMalloc(&d, 4); void *all[] = {d};", "it is stored in a struct or an array"),
        ("float *d; cudaMalloc(&d, 4); float **at = &d;", "its address is taken"),
        ("float *d; cudaMalloc(&d, 4); ++d;", "it is moved along"),
        ("float *d; cudaMalloc(&d, 4); d += 1;", "it is used in a way that is not understood"),
        (
            "float *d; cudaMalloc(&d, 4); d[0] = 1;",
            "the host reads or writes it, though it was allocated on the device",
        ),
        ("float *e, *&d = e; cudaMalloc(&d, 4);", "it is a reference to another pointer"),
        ("float *d; cudaMalloc(&d, 4); cudaMemcpyPeer(d, 0, d, 1, 4);", "`cudaMemcpyPeer`, which is not"),
        ("float *d; cudaMalloc(&d, 4); cudaMallocAsync(&d, 4, 0);", "cudaMallocAsync allocates it"),
        ("float *d; cudaMallocManaged(&d, 4, cudaMemAttachHost);", "the memory is not for all devices from the start"),
        ("float *d; cudaMallocHost(&d, 4, 1); k<<<1, 1>>>(d);", "it has flags"),
        ("float *d; cudaMallocManaged(&d, 4); cudaMemPrefetchAsync(d, 4, 0);", "the program says itself"),
    ],
)
def test_doubt_leaves_a_buffer_as_it_is(source, body, why):
    result = source(main(body))
    assert not result.changed
    assert any(why in each.why for each in result.skipped), result.skipped


MEMBER = "struct Owner { float *d; } owner;\nvoid begin() { cudaMalloc(&owner.d, 4); }\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("template <typename T> void end(T &of) { cudaFree(of.d); }", "a template or a lambda may use it"),
        ("void end() { auto f = [](auto of) { cudaFree(of.d); }; f(owner); }", "a template or a lambda may use it"),
        ("void end() { auto [mine] = owner; cudaFree(mine); }", "a structured binding may name it"),
        ("#ifdef NEVER\nvoid end() { cudaFree(owner.d); }\n#endif", "code that is not compiled with these settings"),
        ("#define END cudaFree(owner.d)\nvoid end() { END; }", "a macro writes it"),
        ("void end() { float *Owner::*at = &Owner::d; }", "its address is taken"),
        (
            "void end(unsigned long long p) {} void both() { end((unsigned long long)owner.d); }",
            "as a pointer of its own",
        ),
        (
            "struct A { virtual void end(float *p) {} }; struct B : A { void end(float *p) override { cudaFree(p); } };"
            "void both(A &a) { a.end(owner.d); }",
            "`end`, a virtual method, is given it",
        ),
    ],
)
def test_uses_that_hide_are_found(source, text, why):
    """Each of them would free memory in the old way that was allocated in the new."""
    assert source(RUNTIME + MEMBER).changed
    result = source(f"{RUNTIME}{MEMBER}{text}\n")
    assert not result.changed
    assert any(why in each.why for each in result.skipped), result.skipped


@pytest.mark.parametrize(
    ("declared", "use"),
    [
        ("struct Sum { Sum(float *first, float *second) { cudaFree(second); } };", "Sum s(nullptr, d);"),
        ("struct Sum { void operator()(float *first, float *second) { cudaFree(first); } };", "Sum s; s(d, nullptr);"),
        ("struct Sum { Sum(float *only) { cudaFree(only); } };", "Sum{d};"),
        ("struct Sum { Sum(float *only) { cudaFree(only); } }; void f(Sum) {}", "f(d);"),
        (
            "struct Holder { float *p; Holder(float *a, float *b) : p(b) {} ~Holder() { cudaFree(p); } };",
            "Holder h(nullptr, d);",
        ),
    ],
)
def test_what_an_object_does_with_a_pointer_is_not_followed(source, declared, use):
    result = source(f"{RUNTIME}{KERNEL}{declared}\nint main() {{ float *d; cudaMallocManaged(&d, 4);\n{use} }}\n")
    assert not result.changed
    assert "a constructor or an operator is given it (line 5)" in [each.why for each in result.skipped]


OWNED = "#ifdef NEVER\n{}\n#endif\n"


@pytest.mark.parametrize(
    ("skipped", "changes"),
    [
        ("void end() { thrust::free(owner.d); }", False),
        ("void end() { other(owner); }  // d", True),
        ('const char *text = "d";', True),
        ("#else\nvoid end() {}", True),
    ],
)
def test_names_in_code_that_is_not_compiled_are_uses(source, skipped, changes):
    result = source(RUNTIME + MEMBER + OWNED.format(skipped))
    assert result.changed == changes
    assert changes or [each.why for each in result.skipped] == [
        "code that is not compiled with these settings uses it (line 5)"
    ]


def test_names_in_code_of_another_function_are_not_those_of_a_local_variable(source):
    body = "float *d; cudaMalloc(&d, 4);\n{}cudaFree(d);"
    assert not source(main(body.format(OWNED.format("keep(d);")))).changed
    assert source(main(body.format("")) + OWNED.format("void other(float *d) { keep(d); }")).changed


def test_members_of_a_union_are_left(source):
    result = source(RUNTIME + MEMBER.replace("struct Owner { float *d; }", "union Owner { float *d; long n; }"))
    assert any("a union" in each.why for each in result.skipped)


@pytest.mark.parametrize(
    "use",
    [
        "if (d == nullptr) return 1;",
        "if (!d) return 1;",
        "k<<<1, 1>>>(d + 8);",
        "k<<<1, 1>>>(&d[8]);",
        "cudaMemset(d, 0, sizeof(*d));",
        "cudaMemcpy((char *)d + 1, (void *)&d[2], 2, cudaMemcpyDeviceToDevice);",
        "d = nullptr;",
        "(void)d;",
    ],
)
def test_harmless_uses_are_understood(source, use):
    result = source(main(f"float *d; cudaMalloc((void **)&d, 64);\n{use}\ncudaFree(d);"))
    assert [each.name for each in result.buffers] == ["d"]
    assert result.skipped == ()
    assert b"octavo_free(d);" in result.after


def test_all_of_a_buffer_changes_or_nothing(source):
    """A pointer that goes through two functions is freed in the second; in doubt there, nothing changes anywhere."""
    text = RUNTIME + "static float *kept;\nvoid free_it(float *q) { cudaFree(q); /*more*/ }\n"
    text += "void pass(float *p) { free_it(p); }\nint main() { float *d; cudaMalloc(&d, 4); pass(d); }\n"
    clear = source(text)
    assert b"octavo_free(q)" in clear.after
    assert b"octavo_malloc(&d, 4, " in clear.after
    doubtful = source(text.replace("/*more*/", "kept = q;"))
    assert not doubtful.changed
    assert {each.call for each in doubtful.skipped} == {"cudaMalloc", "cudaFree"}


@pytest.mark.parametrize(
    ("before", "launch", "bounds"),
    [
        ("int n = 4;", "k<<<n, 32>>>(d);", "n, 32"),
        ("int n = 4; n = 5;", "k<<<n, 32>>>(d);", "n, 32"),
        ("int n = 4;", "n = 5; k<<<n, 32>>>(d);", None),
        ("int n = 4;", "++n; k<<<n, 32>>>(d);", None),
        ("int n = 4;", "int m = n * 2; dim3 g(m, 3), b(m); k<<<g, b>>>(d);", "dim3((n * 2), 3), (n * 2)"),
        ("int n = 4;", "const dim3 g = dim3(n, n); k<<<g, dim3(8, 8)>>>(d);", "dim3(n, n), dim3(8, 8)"),
        ("int n = 4;", "dim3 g(n); g.x = 2; k<<<g, 1>>>(d);", None),
        ("", "int n; cudaGetDeviceCount(&n); k<<<n, 32>>>(d);", None),
        ("", "{ int n = 3; k<<<n, 32>>>(d); }", "3, 32"),
        ("", "for (int i = 1; i < 3; ++i) k<<<i, 32>>>(d);", None),
        ("int n = 4; const int t = 64;", "k<<<(n + t - 1) / t, t>>>(d);", "(n + t - 1) / t, t"),
        ("int n = 4;", "const int t = 2 * 32; k<<<n % t, t>>>(d);", "n % (2 * 32), (2 * 32)"),
        ("int n = 4, t = 64;", "if (t > 0) k<<<n / t, t>>>(d);", None),
        ("int n = 4, t = 64;", "if (t > 0) { int m = n % (t); k<<<m, t>>>(d); }", None),
        ("int n = 4; const int t = n - 4;", "if (t > 0) k<<<n / t, 32>>>(d);", None),
        ("int n; if (d) n = 4;", "if (d) k<<<n, 32>>>(d);", None),
        ("int n; n = 4;", "k<<<n, 32>>>(d);", "n, 32"),
        ("int n; switch (1) { case 1: n = 4; }", "k<<<n, 32>>>(d);", None),
        ("int n; if (d) goto on; n = 4; on:", "k<<<n, 32>>>(d);", None),
        ("\n#define N (1 << 4)\n", "k<<<N / 4, N>>>(d);", "N / 4, N"),
        ("\n#define SHARE(a, b) ((a) / (b))\nint n = 4, t = 4;", "if (t) k<<<SHARE(n, t), 32>>>(d);", None),
        ("\n#define SET(a, b) a = b\nint n = 4;", "SET(n, 5); k<<<n, 32>>>(d);", None),
        ("\n#define MORE(a) ++a\nint n = 4;", "MORE(n); k<<<n, 32>>>(d);", None),
    ],
)
def test_bounds_are_passed_on_where_they_are_known(source, before, launch, bounds):
    after = source(main(f"float *d; {before}\ncudaMalloc(&d, 64);\n{launch}")).after.decode()
    known = "" if bounds is None else f".launch({bounds})"
    assert f'octavo_malloc(&d, 64, octavo_buffer("d"){known});' in after


def test_a_bound_that_cannot_be_written_costs_the_bounds_alone(source):
    result = source(main("float *d; cudaMalloc(&d, 64);\n#define LATER 4\nk<<<LATER, 32>>>(d); cudaFree(d);"))
    assert b'octavo_malloc(&d, 64, octavo_buffer("d"));' in result.after
    assert b"octavo_free(d)" in result.after
    assert [each.launch for each in result.buffers] == [False]


def test_a_loop_around_an_allocation_changes_what_is_known(source):
    text = main("int n = 1;\nwhile (n < 9) { n *= 2;\nfloat *d; cudaMalloc(&d, 64); k<<<n, 32>>>(d); cudaFree(d); }")
    assert b'octavo_buffer("d"));' in source(text).after


def test_two_buffers_of_one_name_get_that_of_their_function(source):
    body = "void {}() {{ float *d; cudaMalloc(&d, 4); cudaFree(d); }}\n"
    after = source(RUNTIME + body.format("first") + body.format("second")).after
    assert b'octavo_buffer("first.d")' in after
    assert b'octavo_buffer("second.d")' in after


@pytest.mark.parametrize(
    "text",
    [
        main("float *d; /* größer */ cudaMalloc(&d, 4);  // Ende\n").replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + main("float *d;\tcudaMalloc(&d, 4);").encode(),
        main("float *d; // caf\xe9\ncudaMalloc ( & d , /* four */ 4 /*!*/ ) ;").encode("latin-1"),
        main("float *d; ::cudaMalloc(&d, 4); \f").rstrip().encode(),
        b'extern "C" int cudaMalloc2;\nint main() { float *d; cudaMalloc(&d, 4); }',
    ],
    ids=["CRLF", "mark", "latin-1", "no end of line", "no include"],
)
def test_every_byte_outside_of_edits_stays(source, text):
    result = source(text)
    assert result.changed
    assert undone(result) == text
    assert (b"\r\n" in result.after) == (b"\r\n" in text)
    assert result.after.count(b"\r\n") in {0, result.after.count(b"\n")}


def test_edits_are_those_of_an_obvious_reference():
    chosen = random.Random(7)  # noqa: S311 - no secret
    for _ in range(200):
        text = bytes(chosen.choices(b"abc\n", k=40))
        cuts = sorted(chosen.sample(range(41), 6))
        pairs = list(zip(cuts[::2], cuts[1::2], strict=True))
        edits = [Edit(start, text[start:end], b"X" * chosen.randrange(4)) for start, end in pairs]
        expected = text
        for edit in reversed(edits):
            expected = expected[: edit.start] + edit.new + expected[edit.end :]
        assert apply(text, chosen.sample(edits, len(edits))) == expected
    with pytest.raises(ValueError, match="does not fit"):
        apply(b"abcd", [Edit(0, b"abc", b""), Edit(2, b"c", b"")])


def test_errors_of_clang_are_shown(source):
    with pytest.raises(TransformError) as raised:
        source("int main() { return foo; }\nint x = bar;\n")
    assert "does not parse; nothing was changed" in raised.value.message
    assert "program.cu:1:21: use of undeclared identifier 'foo'" in raised.value.message
    assert "program.cu:2:9: use of undeclared identifier 'bar'" in raised.value.message
    with refused("bad-program", TransformError) as raised:
        source('#include "nowhere.h"\n')
    assert "-I" in str(raised.value.hint)


def test_macros_and_headers_can_be_named(tmp_path):
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "size.h").write_text("#define SIZE 4\n")
    path = tmp_path / "a.cu"
    path.write_text('#include "size.h"\n#ifdef ON\nvoid f() { float *d; cudaMalloc(&d, SIZE); cudaFree(d); }\n#endif\n')
    result = transform(path, include=[tmp_path / "headers"], define=["ON"])
    assert len(result.buffers) == 1
    off = transform(path, include=[tmp_path / "headers"])
    assert [each.call for each in off.skipped] == ["cudaMalloc", "cudaFree"]


# The command


def test_nothing_is_written_unless_asked(cli, tmp_path):
    path = EXAMPLES[1]
    assert path.stem == "fir"
    shutil.copy(path, tmp_path / "fir.cu")
    (tmp_path / "fir.cu").chmod(0o640)
    shown = cli("transform", "fir.cu")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("--- a/fir.cu\n+++ b/fir.cu\n@@ ")
    assert "Nothing is written" in shown.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["fir.cu"]
    assert (tmp_path / "fir.cu").read_bytes() == path.read_bytes()

    assert cli("transform", "fir.cu", "-o", "out.cu", "--quiet").returncode == 0
    refused = cli("transform", "fir.cu", "-o", "out.cu")
    assert refused.returncode == 2
    assert "out.cu exists already" in refused.stderr
    assert cli("transform", "fir.cu", "-o", "out.cu", "--force").returncode == 0
    assert cli("transform", "fir.cu", "-o", "a.cu", "--in-place").returncode == 2
    assert cli("transform", "fir.cu", "--in-place").returncode == 0
    assert (tmp_path / "fir.cu").read_bytes() == (tmp_path / "out.cu").read_bytes() == transform(path).after
    assert (tmp_path / "fir.cu").stat().st_mode & 0o777 == 0o640
    again = cli("transform", "fir.cu", "--in-place")
    assert "Nothing to change" in again.stderr
    assert again.stdout == ""


def test_the_diff_is_one_that_patch_takes(cli, tmp_path):
    patch = tool("patch")
    for path in EXAMPLES:
        shutil.copy(path, tmp_path)
        shown = cli("transform", path.name)
        subprocess.run([patch, "-p1", "--quiet"], input=shown.stdout, text=True, cwd=tmp_path, check=True)
        assert (tmp_path / path.name).read_bytes() == transform(path).after


def test_the_document_has_everything(cli):
    path = ROOT / "examples" / "transform" / "pagerank.cu"
    document = json.loads(cli("transform", str(path), "--json").stdout)
    result = transform(path)
    assert document["diff"] == result.diff
    assert document["written"] is None
    assert document["buffers"][0] == {"name": "d_rows", "line": 35, "kind": "device", "launch": True}
    assert document["edits"][0] == {"line": 4, "before": "", "after": "#include <octavo/transform.h>\n"}
    assert document["skipped"][0]["line"] == 41
    assert document["skipped"][0]["buffer"] == "d_from"


def test_what_does_not_parse_changes_nothing(cli, tmp_path):
    (tmp_path / "bad.cu").write_text("int main() { cudaMalloc(; }\n")
    done = cli("transform", "bad.cu", "--in-place")
    assert done.returncode == 2
    assert "bad.cu:1:" in done.stderr
    assert (tmp_path / "bad.cu").read_text() == "int main() { cudaMalloc(; }\n"
    assert [each.name for each in tmp_path.iterdir()] == ["bad.cu"]
    missing = cli("transform", "missing.cu")
    assert missing.returncode == 2
    assert "cannot read missing.cu" in missing.stderr


def test_without_libclang_the_extra_is_named(tmp_path):
    (tmp_path / "a.cu").write_text(RUNTIME)
    code = "import sys; sys.modules['clang'] = None\nfrom octavo.transform import transform\ntransform('a.cu')"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "pip install 'octavo[transform]'" in done.stderr


# The header of transformed programs


def test_the_runtime_is_that_of_the_c_library():
    theirs = ROOT / "crates" / "octavo-runtime" / "include" / "octavo.h"
    if not theirs.exists():
        pytest.skip("the C library is not part of this version")
    assert (include_folder() / "octavo.h").read_bytes() == theirs.read_bytes()


FAKE = r"""
#include <octavo/transform.h>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
static const char *last = "";
static int answer_placement = OCTAVO_DEVICE, free_bytes = 1000, concurrent = 1, status = OCTAVO_OK;
static double managed = 1, pinned = 2;
static uint64_t blocks, threads, bytes, budget;
static cudaMemoryType type = cudaMemoryTypeDevice;
extern "C" {
cudaError_t cudaMalloc(void **p, size_t) { *p = &last; last = "device"; return cudaSuccess; }
cudaError_t cudaMallocManaged(void **p, size_t, unsigned) { *p = &last; last = "managed"; return cudaSuccess; }
cudaError_t cudaMallocHost(void **p, size_t) { *p = &last; last = "pinned"; return cudaSuccess; }
cudaError_t cudaFree(void *) { last = "free"; return cudaSuccess; }
cudaError_t cudaFreeHost(void *) { last = "free-host"; return cudaSuccess; }
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
cudaError_t cudaGetDevice(int *d) { *d = 0; return cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int *v, cudaDeviceAttr, int) { *v = concurrent; return cudaSuccess; }
cudaError_t cudaMemGetInfo(size_t *f, size_t *t) { *f = free_bytes; *t = 2000; return cudaSuccess; }
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *) { a->type = type; return cudaSuccess; }
octavo_status octavo_open(const char *, octavo_machine **, char *, size_t) {
    return getenv("FAKE_REFUSES") ? OCTAVO_BAD_FILE : OCTAVO_ASSUMED_MACHINE;
}
const char *octavo_placement_name(octavo_placement p) { return p == 0 ? "device" : p == 1 ? "managed" : "pinned"; }
octavo_status octavo_get_placements(
    const octavo_machine *, const octavo_data *d, size_t, uint64_t b, octavo_answer *a) {
    blocks = d->blocks, threads = d->threads_per_block, bytes = d->bytes, budget = b;
    a->placement = answer_placement, a->managed_seconds = managed, a->pinned_seconds = pinned;
    return status;
}
}
int main() {
    float *p;
    const octavo_buffer buffer = octavo_buffer("p").launch(dim3(3, 2), 64);
    for (answer_placement = 0; answer_placement < 3; ++answer_placement) {
        octavo_malloc(&p, 40, buffer), printf("%s ", last);
        octavo_malloc_managed(&p, 40, buffer), printf("%s ", last);
        octavo_malloc_host(&p, 40, buffer), printf("%s\n", last);
    }
    printf("%d %d %d %d\n", (int)blocks, (int)threads, (int)bytes, (int)budget);
    pinned = 0, answer_placement = OCTAVO_DEVICE;
    octavo_malloc_managed(&p, 40, buffer), printf("%s ", last);
    concurrent = 0, pinned = 2;
    octavo_malloc_host(&p, 40, buffer), printf("%s ", last);
    status = OCTAVO_INTERNAL, answer_placement = OCTAVO_PINNED;
    octavo_malloc(&p, 40, buffer), printf("%s\n", last);
    for (cudaMemoryType each : {cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged})
        type = each, octavo_free(p), printf("%s ", last);
    last = "nothing", octavo_free(nullptr), printf("%s\n", last);
    octavo_malloc(&p, 0, buffer), printf("%s\n", last);
}
"""


@pytest.fixture(scope="module")
def fake(tmp_path_factory):
    """The header with a CUDA runtime and a library of our own, which say what they are asked."""
    folder = tmp_path_factory.mktemp("header")
    (folder / "fake.cpp").write_text(FAKE)
    include = include_folder()
    flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror", f"-I{include}", f"-isystem{include / 'stub'}"]
    subprocess.run([tool("c++"), *flags, "fake.cpp", "-o", "fake"], cwd=folder, check=True)

    def run(**environment: str) -> list[str]:
        done = subprocess.run(
            [folder / "fake"], capture_output=True, text=True, check=True, env={**os.environ, **environment}
        )
        return [line.strip() for line in done.stdout.splitlines()]

    return run


def test_memory_lies_where_the_runtime_says_and_is_freed_as_what_it_is(fake):
    assert fake() == [
        "device managed managed",  # Device: what the host uses goes where it is cheaper, managed in 1 s, pinned in 2.
        "managed managed managed",
        "pinned pinned pinned",
        "6 64 40 1000",
        "pinned pinned device",  # Pinned is cheaper; not managed unless both may use it; no answer.
        "free-host free free nothing",
        "device",  # No memory is of no kind.
    ]


def test_constants_that_the_library_refuses_leave_memory_where_the_program_had_it(fake):
    assert fake(FAKE_REFUSES="1")[:3] == ["device managed pinned"] * 3
    assert fake(FAKE_REFUSES="1", OCTAVO_PLACEMENTS="p=pinned")[:3] == ["pinned pinned pinned"] * 3


@pytest.mark.parametrize(
    ("ordered", "first"),
    [
        ("p=pinned", "pinned pinned pinned"),
        ("*=managed", "managed managed managed"),
        ("*=managed,p=device", "device managed pinned"),
        ("q=pinned,pp=pinned,p=nonsense,p", "device managed managed"),
    ],
)
def test_a_variable_of_the_environment_wins(fake, ordered, first):
    assert fake(OCTAVO_PLACEMENTS=ordered)[0] == first


def deep(tmp_path, body):
    path = tmp_path / "deep.cu"
    path.write_text(
        f"__global__ void k(float*a){{{body}}}\nint main(){{float*a;cudaMalloc(&a,4);k<<<1,1>>>(a);cudaFree(a);}}\n"
    )
    return path


@pytest.mark.parametrize(
    "body", ["a[0]=" + "+".join("1" * 600) + ";", "if(a[0])a[0]=0;" + "else if(a[0]==1)a[0]=1;" * 600]
)
def test_long_chains_are_no_problem(tmp_path, body):
    assert [each.name for each in transform(deep(tmp_path, body)).buffers] == ["a"]


@pytest.mark.parametrize("body", ["a[0]=" + "- " * 20_000 + "1;", "if(1)" * 50_000 + ";"])
def test_code_that_ends_libclang_is_one_message(tmp_path, body):
    with refused("too-large", TransformError, file="deep.cu"):
        transform(deep(tmp_path, body))


def test_a_terminal_gets_a_diff_as_text_and_patch_gets_it_to_the_byte(tmp_path):
    (tmp_path / "a.cu").write_text("// \x1b[31m\u202e\n" + main("float *p; cudaMalloc(&p, 4); cudaFree(p);"))
    command = [sys.executable, "-m", "octavo", "transform", "a.cu"]
    piped = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout.decode()
    assert piped == transform(tmp_path / "a.cu").diff.replace(str(tmp_path)[1:] + "/", "")
    ours, theirs = os.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        subprocess.run(command, cwd=tmp_path, stdout=theirs, stderr=subprocess.DEVNULL, check=True)
        shown = terminal.read(1 << 16).decode()
    os.close(theirs)
    assert r"// \x1b[31m\u202e" in shown
    assert "\u202e" not in shown
