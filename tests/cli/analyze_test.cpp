// The command analyze as scripts and people use it.
#include "tests/catch.hpp"
#include "tests/cli/expect.hpp"
#include "tests/cli/problem_files.hpp"
#include "tests/cli/run_program.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

namespace {

nlohmann::json stage(const nlohmann::json& json, const std::string& name) {
  for (const auto& s : json["stages"]) {
    if (s["name"] == name) return s;
  }
  return nullptr;
}

SmallProblem ones(std::int64_t m, std::int64_t n, std::int64_t k) {
  SmallProblem s(m, n, k);
  s.a.assign(s.a.size(), 0x38);
  s.b.assign(s.b.size(), 0x38);
  s.a_scale.assign(s.a_scale.size(), 1);
  s.b_scale.assign(s.b_scale.size(), 1);
  return s;
}

}  // namespace

TEST_CASE("all ones with K = 16512: 16384 without promotion, 16512 with") {
  const Folder folder;
  const std::string problem = folder / "ones.safetensors";
  write(problem, ones(64, 8, 16512).tensors());
  const Result text = run("analyze " + problem);
  CHECK((text.status == 0 && text.err.empty()));
  for (const char* line : {"with promotion                              16512",
                           "without promotion                           16384",
                           "exact                                       16512"}) {
    CHECK_THAT(text.out, contains_text(line));
  }
  const auto json = run("analyze --json " + problem).json();
  CHECK((json["examples"][0]["not_promoted"] == 16384 && json["examples"][0]["promoted"] == 16512 &&
         json["rows"] == 64));
  CHECK((stage(json, "without promotion")["max_abs"] == 128 && stage(json, "total")["max_abs"] == 0));
  const auto wide = run("analyze --json --fraction-bits 25 " + problem).json();
  CHECK((wide["examples"][0]["not_promoted"] == 16512 && wide["fraction_bits"] == 25));
  const auto fast = run("analyze --json --promote none --output f32 " + problem).json();
  CHECK((fast["examples"][0]["d"] == 16384 && stage(fast, "total")["max_abs"] == 128));
}

TEST_CASE("every stage has its five fields, and the output format counts") {
  const Folder folder;
  const std::string problem = folder / "problem.safetensors";
  write(problem, SmallProblem(8, 16, 300).tensors());
  const auto json = run("analyze --json " + problem).json();
  CHECK(json["output"] == "bf16");
  for (const char* name : {"accumulation", "promotion", "output rounding", "total", "model f32",
                           "without promotion, unscaled"}) {
    const auto s = stage(json, name);
    CAPTURE(name);
    REQUIRE(!s.is_null());
    for (const char* field : {"max_abs", "max_rel", "rms", "calc_diff"}) CHECK(s[field].is_number());
    CHECK(s["max_abs"] > 0);
  }
  CHECK(stage(run("analyze --json --output f32 " + problem).json(), "output rounding")["max_abs"] == 0);
  CHECK(run("analyze --json --rows 2 " + problem).json()["elements"] == 32);
  CHECK(run("analyze --json --rows all " + problem).json()["elements"] == 128);
}

TEST_CASE("option --against shows what quantisation lost") {
  const Folder folder;
  const std::string problem = folder / "problem.safetensors", raw = folder / "raw.safetensors";
  write(problem, ones(2, 4, 128).tensors());
  std::vector<float> a(2 * 128, 1.0f), b(4 * 128, 1.0f);
  a[0] = 1.5f;
  write(raw,
        {tensor_of<float>("a", DType::f32, {2, 128}, a), tensor_of<float>("b", DType::f32, {4, 128}, b)});
  const auto json = run("analyze --json " + problem + " --against " + raw).json();
  CHECK((stage(json, "quantisation")["max_abs"] == 0.5 && stage(json, "total")["max_abs"] == 0.5));
  CHECK(json["examples"][0]["unquantised"] == 128.5);
}

TEST_CASE("what cannot be analysed: status 2, one sentence, an empty stdout") {
  const Folder folder;
  const std::string problem = folder / "problem.safetensors", raw = folder / "raw.safetensors";
  write(problem, SmallProblem(4, 8, 256).tensors());
  write_f32(raw, {1, 2}, {2}, "a");
  const auto refused = [&](const std::string& arguments, const std::string& word) {
    const Result result = run("analyze " + arguments);
    CAPTURE(arguments, result.err);
    CHECK((result.status == 2 && result.out.empty()));
    CHECK_THAT(result.err, contains_text(word));
  };
  refused(problem + " --promote none", "vary along K");
  refused(problem + " --against " + raw, "\"b\"");
  for (const char* number : {"0", "41", "0x10", "1e1"})
    refused(problem + " --fraction-bits " + number, "--fraction-bits");
  for (const char* number : {"some", "0", "-1", "0x10", "99999999999999999999"})
    refused(problem + " --rows " + number, "--rows");
  refused(raw, "raw.safetensors");
  refused(folder / "none.safetensors", "none.safetensors");
}

TEST_CASE("a wgmma has no promotion, and the report does not speak of one") {
  const Folder folder;
  const std::string problem = folder / "w.safetensors";
  succeeds("random " + problem + " --kind wgmma --n 8 --k 1024 --with-c");
  CHECK_THAT(succeeds("analyze " + problem),
             contains_text("no promotion") && !contains_text("with promotion"));
  CHECK(answer("analyze " + problem)["promote"].is_null());
  CHECK(answer("gemm " + problem + " -o " + (folder / "d.safetensors"))["promote"].is_null());
}
