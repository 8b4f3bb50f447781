// The command diff as scripts and people use it.
#include "tests/catch.hpp"
#include "tests/cli/expect.hpp"
#include "tests/cli/problem_files.hpp"
#include "tests/cli/run_program.hpp"

using namespace fp8twin;
using namespace fp8twin::test;

namespace {

/// Two files of one F32 tensor d, with some elements of the second a few steps up.
struct TwoFiles {
  Folder folder;
  std::string a = folder / "a.safetensors", b = folder / "b.safetensors";

  explicit TwoFiles(const std::vector<std::pair<std::size_t, int>>& steps, Shape shape = {64, 128}) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)), 1.5f);
    write_f32(a, values, shape);
    for (const auto& [at, count] : steps)
      values[at] =
          std::bit_cast<float>(std::bit_cast<std::uint32_t>(1.5f) + static_cast<std::uint32_t>(count));
    write_f32(b, values, shape);
  }
  Result diff(const std::string& options = "") const { return run("diff " + a + " " + b + " " + options); }
};

nlohmann::json variant(const nlohmann::json& cause, const std::string& name) {
  for (const auto& score : cause["variants"]) {
    if (score["name"] == name) return score;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("equal files: status 0") {
  const TwoFiles files({});
  const Result text = files.diff();
  CHECK((text.status == 0 && text.err.empty()));
  CHECK_THAT(text.out, contains_text("d: equal, all 8192 elements"));
  const auto json = files.diff("--json").json();
  CHECK((json["equal"] == true && json["elements"] == 8192 && json["different"] == 0 &&
         json["max_ulp"] == 0 && json["first"].is_null()));
}

TEST_CASE("planted differences: status 1, and what scripts read") {
  const TwoFiles files({{3 * 128 + 17, 1}, {9 * 128, 5}});
  const Result result = files.diff("--json");
  CHECK(result.status == 1);
  const auto json = result.json();
  CHECK((json["equal"] == false && json["different"] == 2 && json["max_ulp"] == 5 &&
         json["nan_mismatch"] == 0));
  CHECK(json["max_abs"] == 5 * 0x1p-23);
  CHECK(json["max_rel"] == 5 * 0x1p-23 / (1.5 + 5 * 0x1p-23));
  CHECK((json["first"]["index"] == nlohmann::json({3, 17}) && json["first"]["a"] == "0x3fc00000" &&
         json["first"]["b"] == "0x3fc00001"));
  const auto owner = json["first"]["owner"];
  CHECK((owner["warp"] == 0 && owner["lane"] == 12 && owner["register"] == 9 &&
         owner["tile_shape"] == nlohmann::json({64, 128})));
  CHECK(json["tensors"][0]["ulp_histogram"] ==
        nlohmann::json::parse(R"([{"from":1,"to":1,"elements":1},{"from":4,"to":7,"elements":1}])"));
}

TEST_CASE("option --max-ulp decides the status, not `equal`") {
  const TwoFiles files({{0, 3}});
  CHECK(files.diff("--max-ulp 3").status == 0);
  CHECK(files.diff("--max-ulp 2").status == 1);
  CHECK(files.diff("--max-ulp 03").status == 0);  // decimal, not octal
  CHECK(files.diff("--max-ulp 18446744073709551615").status == 0);
  CHECK(files.diff("--max-ulp 3 --json").json()["equal"] == false);
}

TEST_CASE("signed zeros and NaNs") {
  const Folder folder;
  const std::string a = folder / "a.safetensors", b = folder / "b.safetensors";
  const float nan = std::bit_cast<float>(0x7fffffffu), other = std::bit_cast<float>(0xffc00000u);
  write_f32(a, {0.0f, nan, 1.0f}, {3});
  write_f32(b, {-0.0f, other, 1.0f}, {3});
  const std::string line = "diff " + a + " " + b;
  CHECK(run(line + " --max-ulp 0").status == 1);  // the NaN
  CHECK(run(line + " --max-ulp 0 --nan-equal").status == 0);
  const auto json = run(line + " --json").json();
  CHECK((json["different"] == 2 && json["nan_mismatch"] == 1 && json["max_ulp"] == 0));
  CHECK(run(line + " --json --nan-equal").json()["different"] == 1);
}

TEST_CASE("infinite distances are strings") {
  const Folder folder;
  write_f32(folder / "a.safetensors", {1.0f}, {1});
  write_f32(folder / "b.safetensors", {std::numeric_limits<float>::infinity()}, {1});
  const auto json =
      run("diff --json " + (folder / "a.safetensors") + " " + (folder / "b.safetensors")).json();
  CHECK((json["max_abs"] == "inf" && json["max_rel"] == "inf" && json["calc_diff"] == 0));
}

TEST_CASE("several tensors: a list and totals; chosen ones by name") {
  const Folder folder;
  const std::string a = folder / "a.safetensors", b = folder / "b.safetensors";
  const std::vector<float> x{1, 2}, y{1, 3};
  const std::vector<std::uint8_t> u{1, 2, 3}, v{1, 2, 4};
  write(a, {tensor_of<float>("x", DType::f32, {2}, x),
            tensor_of<std::uint8_t>("codes", DType::f8_e4m3, {3}, u)});
  write(b, {tensor_of<float>("x", DType::f32, {2}, y),
            tensor_of<std::uint8_t>("codes", DType::f8_e4m3, {3}, v)});
  const auto json = run("diff --json " + a + " " + b).json();
  CHECK((json["elements"] == 5 && json["different"] == 2 && json["max_abs"] == 1));
  REQUIRE(json["tensors"].size() == 2);
  CHECK(json["first"]["tensor"] == json["tensors"][0]["name"]);
  const Result codes = run("diff --json --tensor codes " + a + " " + b);
  CHECK((codes.status == 1 && codes.json()["elements"] == 3 && codes.json()["tensors"].size() == 1));

  write(b, {tensor_of<float>("y", DType::f32, {2}, x)});
  CHECK(run("diff " + a + " " + b + " --tensor x=y").status == 0);
}

TEST_CASE("npy: its one tensor goes with the other file's, and uint8 with FP8 codes") {
  const Folder folder;
  const std::string a = folder / "a.safetensors", b = folder / "b.npy", both = folder / "both.safetensors";
  const std::vector<std::uint8_t> codes{1, 2, 3, 4};
  write(a, {tensor_of<std::uint8_t>("codes", DType::f8_e4m3, {2, 2}, codes)});
  write(b, {tensor_of<std::uint8_t>("data", DType::u8, {2, 2}, codes)});
  CHECK(run("diff " + a + " " + b).status == 0);
  CHECK(run("diff " + b + " " + a).status == 0);
  write(both, {tensor_of<std::uint8_t>("p", DType::u8, {2, 2}, codes),
               tensor_of<std::uint8_t>("q", DType::f8_e4m3, {2, 2}, codes)});
  const Result unclear = run("diff " + both + " " + b);
  CHECK((unclear.status == 2 && unclear.out.empty()));
  CHECK_THAT(unclear.err, contains_text("--tensor"));
  CHECK(run("diff " + both + " " + b + " --tensor q").status == 0);
  CHECK(run("diff " + both + " " + b + " --tensor q=data").status == 0);
}

TEST_CASE("what cannot be compared: status 2, one sentence, an empty stdout") {
  const Folder folder;
  const std::string a = folder / "a.safetensors", b = folder / "b.safetensors", c = folder / "c.safetensors",
                    h = folder / "h.safetensors";
  write_f32(a, {1, 2}, {2});
  write_f32(b, {1, 2, 3}, {3});
  write_f32(c, {1, 2}, {2}, "other");
  write_bf16(h, {1, 2}, {2});
  const auto refused = [&](const std::string& arguments, const std::string& word) {
    const Result result = run("diff --json " + arguments);
    CAPTURE(arguments, result.err);
    CHECK((result.status == 2 && result.out.empty()));
    CHECK_THAT(result.err, contains_text(word));
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  };
  refused(a + " " + b, "[3]");
  refused(a + " " + c, "\"d\"");
  refused(a + " " + h, "BF16");
  refused(a + " " + a + " --tensor missing", "missing");
  refused(a + " " + (folder / "none.safetensors"), "none.safetensors");
  for (const char* tile : {"63x128", "64", "64x12", "0x40x128", "64x 8", "64x128x", "64x264"})
    refused(a + " " + a + " --tile '" + tile + "'", "--tile");
  for (const char* number : {"-1", "0x10", "1e3", "18446744073709551616", "''"}) {
    refused(a + " " + a + " --max-ulp " + number, "--max-ulp");
    refused(a + " " + a + " --sample " + number, "--sample");
  }
  refused(a + " " + a + " --problem " + a, a);
  refused(a + " " + a + " --html " + (folder / "no/such/page.html"), "page.html");
  refused(a, "B");
}

TEST_CASE("sizes of groups that do not make up K are refused before anything is quantised") {
  const Folder folder;
  const std::string problem = folder / "problem.safetensors", d = folder / "d.safetensors";
  const std::vector<float> operand(2 * 128, 1.0f);
  const std::vector<std::int32_t> sizes{1'000'000};
  write(problem, {tensor_of<float>("a", DType::f32, {2, 128}, operand),
                  tensor_of<float>("b", DType::f32, {2, 128}, operand),
                  tensor_of<std::int32_t>("k_sizes", DType::i32, {1}, sizes)});
  write_f32(d, {1, 2, 3, 4}, {1, 2, 2});
  refuses("diff " + d + " " + d + " --problem " + problem,
          problem + ": tensor \"a\": k_sizes: they add up to 1000000; needed is the number of columns, 128");
}

TEST_CASE("option --html writes a page with the report, names escaped") {
  const Folder folder;
  const std::string a = folder / "a.safetensors", b = folder / "b.safetensors", page = folder / "page.html";
  write_f32(a, {1, 2}, {2}, "<b>");
  write_f32(b, {1, 3}, {2}, "<b>");
  CHECK(run("diff " + a + " " + b + " --html " + page).status == 1);
  const std::string html = read_text(page);
  CHECK_THAT(html, contains_text("&lt;b&gt;: 1 of 2 elements differ"));
  CHECK(html.find("<b>") == std::string::npos);
}

TEST_CASE("option --problem names the arithmetic that gives B") {
  const Folder folder;
  const SmallProblem s(64, 48, 700);
  const std::string problem = folder / "problem.safetensors", a = folder / "a.safetensors",
                    b = folder / "b.safetensors";
  write(problem, s.tensors());
  write_f32(a, s.model_f32(), {64, 48});
  write_f32(b, s.f32([&](std::int64_t i, std::int64_t j) {
    float final = 0;
    for (std::int64_t block = 0; block < s.blocks(); ++block)
      final += (s.sa(i, block) * s.sb(j, block)) * s.p(i, j, block);
    return final;
  }),
            {64, 48});
  const Result result = run("diff " + a + " " + b + " --json --problem " + problem);
  REQUIRE(result.status == 1);
  const auto json = result.json();
  const auto cause = json["cause"];
  CHECK((cause["best"] == "multiply-then-add" && cause["fault"].is_null()));
  CHECK(cause["as_good"] == nlohmann::json({"multiply-then-add"}));
  CHECK((cause["differing_tested"] == json["different"] && cause["sample_tested"] == 64 * 48));
  CHECK((variant(cause, "multiply-then-add")["differing"] == json["different"] &&
         variant(cause, "multiply-then-add")["sample"] == 64 * 48));
  CHECK((variant(cause, "model")["differing"] == 0 &&
         variant(cause, "model")["sample"] == 64 * 48 - json["different"].get<int>()));
  CHECK(variant(cause, "fast-accumulation")["sample"] == 0);
  CHECK(json["first"]["k_block"] > 0);  // the first block's sum is the same in both
  CHECK_THAT(run("diff " + a + " " + b + " --problem " + problem).out,
             contains_text("b is reproduced by multiply-then-add in every element"));
  CHECK(run("diff " + a + " " + b + " --sample 10 --json --problem " + problem)
            .json()["cause"]["sample_tested"] == 10);
  const auto swapped = run("diff " + b + " " + a + " --json --problem " + problem).json();
  CHECK_THAT(swapped["cause"]["conclusion"].get<std::string>(), contains_text("it is a that departs"));
}

TEST_CASE("option --problem finds a K block left out, in BF16") {
  const Folder folder;
  const SmallProblem s(64, 24, 640, 3);
  const std::string problem = folder / "problem.safetensors", a = folder / "a.safetensors",
                    b = folder / "b.safetensors";
  write(problem, s.tensors());
  write_bf16(a, s.model_f32(), {64, 24});
  write_bf16(b, s.f32([&](std::int64_t i, std::int64_t j) {
    float final = 0;
    for (const std::int64_t block : {0, 1, 3, 4})
      final = std::fma(s.sa(i, block) * s.sb(j, block), s.p(i, j, block), final);
    return final;
  }),
             {64, 24});
  const auto cause = run("diff " + a + " " + b + " --json --problem " + problem).json()["cause"];
  CHECK(cause["fault"]["k_block"] == 2);
  CHECK_THAT(cause["conclusion"].get<std::string>(), contains_text("without K block 2"));
}

TEST_CASE("option --problem leaves out rows that belong to no group") {
  const Folder folder;
  const std::string problem = folder / "problem.safetensors", a = folder / "a.safetensors",
                    b = folder / "b.safetensors";
  const std::vector<std::uint8_t> x(256 * 128, 0x38), y(8 * 128, 0x38);
  const std::vector<float> sx(256, 1), sy(1, 1);
  std::vector<std::int32_t> groups(256, -1);
  std::fill(groups.begin(), groups.begin() + 100, 0);
  write(problem, {tensor_of<std::uint8_t>("a", DType::f8_e4m3, {256, 128}, x),
                  tensor_of<float>("a_scale", DType::f32, {256, 1}, sx),
                  tensor_of<std::uint8_t>("b", DType::f8_e4m3, {1, 8, 128}, y),
                  tensor_of<float>("b_scale", DType::f32, {1, 1, 1}, sy),
                  tensor_of<std::int32_t>("m_indices", DType::i32, {256}, groups)});
  std::vector<float> d(256 * 8, 128.0f);
  write_f32(a, d, {256, 8});
  std::fill(d.begin() + 100 * 8, d.end(), 77.0f);
  write_f32(b, d, {256, 8});
  CHECK(run("diff " + a + " " + b).status == 1);
  const Result result = run("diff --json " + a + " " + b + " --problem " + problem);
  CHECK((result.status == 0 && result.json()["elements"] == 800 &&
         result.json()["tensors"][0]["left_out"] == 156 * 8));
}

TEST_CASE(
    "option --problem leaves out what no group has, of every grouped kind, and finds what a group has") {
  struct Case {
    std::string options;
    Shape shape;
    std::int64_t left_out;            // rows
    std::int64_t padding, row;        // an index of d in padding (-1: there is none), and one in a group
    std::vector<std::int64_t> first;  // that one's coordinates
  };
  const std::string groups = " --padding nan --n 8 --k 130 --groups ";
  const std::vector<Case> cases{
      {"--kind contiguous" + groups + "130,0,5 --gaps 1,0,0,1", {640, 8}, 505, 0, 384 * 8 + 3, {384, 3}},
      {"--kind contiguous --group-ends" + groups + "130,0,5 --gaps 0,0,0,1",
       {512, 8},
       377,
       130 * 8,
       8,
       {1, 0}},
      {"--kind masked --max-m 6" + groups + "3,0,6", {3, 6, 8}, 9, 6 * 8, 13 * 8 + 7, {2, 1, 7}},
      {"--kind masked --max-m 6" + groups + "0,0", {2, 6, 8}, 12, 95, -1, {}},
      {"--kind k-grouped --m 4 --n 8 --groups 130,0,5", {3, 4, 8}, 0, -1, 5 * 8 + 1, {1, 1, 1}}};
  for (const Case& each : cases) {
    const Folder folder;
    const std::string problem = folder / "problem.safetensors", a = folder / "a.safetensors",
                      b = folder / "b.safetensors", c = folder / "c.safetensors";
    succeeds("random " + problem + " " + each.options);
    succeeds("gemm " + problem + " -o " + a + " --output f32");
    const TensorFile result = read_tensor_file(a);
    const auto model = result.at("d").as<float>();
    const auto changed = [&](const std::string& path, std::int64_t at) {
      std::vector<float> d(model.begin(), model.end());
      if (at >= 0) d[static_cast<std::size_t>(at)] += 1e6f;
      write_f32(path, d, each.shape);
    };
    changed(b, each.padding);
    changed(c, each.row);
    INFO(each.options);
    CHECK(run("diff " + a + " " + b).status == (each.padding < 0 ? 0 : 1));
    const Result left = run("diff --json " + a + " " + b + " --problem " + problem);
    REQUIRE(left.status == 0);
    const auto json = left.json();
    CHECK(json["tensors"][0].value("left_out", 0) == each.left_out * 8);
    CHECK(json["elements"] == element_count(each.shape) - each.left_out * 8);
    if (each.row < 0) continue;
    const Result found = run("diff --json " + a + " " + c + " --problem " + problem);
    REQUIRE(found.status == 1);
    CHECK((found.json()["different"] == 1 && found.json()["first"]["index"] == each.first));
    CHECK(variant(found.json()["cause"], "model")["sample"] ==
          element_count(each.shape) - each.left_out * 8 - 1);
  }
}

TEST_CASE("option --problem with unquantised operands names the recipe") {
  const Folder folder;
  const std::string raw = folder / "raw.safetensors", a = folder / "a.safetensors",
                    b = folder / "b.safetensors";
  std::vector<std::uint16_t> x(64 * 256), y(16 * 256);
  const Random random(8, 1);
  std::uint64_t draw = 0;
  for (auto* operand : {&x, &y}) {
    for (std::uint16_t& value : *operand)
      value = second_bf16(static_cast<float>(random.below(draw++, 20001)) / 1000.0f - 10.0f);
  }
  write(raw, {tensor_of<std::uint16_t>("a", DType::bf16, {64, 256}, x),
              tensor_of<std::uint16_t>("b", DType::bf16, {16, 256}, y)});

  /// What the model gives for codes x / s by a true division, and for x * fl(1/s), s = amax / 448 or amax *
  /// fl(1/448).
  const auto result_of = [&](bool gpu) {
    SmallProblem s(64, 16, 256);
    const auto quantise = [&](const std::vector<std::uint16_t>& values, std::int64_t rows,
                              std::int64_t block_rows, std::vector<std::uint8_t>& codes,
                              std::vector<float>& scales) {
      const auto value = [&](std::int64_t row, std::int64_t k) {
        return std::bit_cast<float>(
            static_cast<std::uint32_t>(values[static_cast<std::size_t>(row * 256 + k)]) << 16);
      };
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t k = 0; k < 256; ++k) {
          float amax = 1e-4f;
          const std::int64_t first = row / block_rows * block_rows;
          for (std::int64_t i = first; i < std::min(rows, first + block_rows); ++i) {
            for (std::int64_t j = k / 128 * 128; j < k / 128 * 128 + 128; ++j)
              amax = std::max(amax, std::fabs(value(i, j)));
          }
          const float scale = gpu ? amax * (1.0f / 448.0f) : amax / 448.0f;
          scales[static_cast<std::size_t>(row / block_rows * 2 + k / 128)] = scale;
          const float quotient = value(row, k) * (1.0f / scale);
          int best = 0;  // the nearest code; ties to the even one
          for (int code = 0; code < 0x7f; ++code) {
            const double near = std::fabs(second_value(static_cast<std::uint8_t>(code)) -
                                          std::fabs(static_cast<double>(quotient)));
            const double least = std::fabs(second_value(static_cast<std::uint8_t>(best)) -
                                           std::fabs(static_cast<double>(quotient)));
            if (near < least || (near == least && code % 2 == 0)) best = code;
          }
          codes[static_cast<std::size_t>(row * 256 + k)] =
              static_cast<std::uint8_t>(best | (std::signbit(quotient) ? 0x80 : 0));
        }
      }
    };
    quantise(x, 64, 1, s.a, s.a_scale);
    quantise(y, 16, 128, s.b, s.b_scale);
    return s.model_f32();
  };
  write_f32(a, result_of(true), {64, 16});
  write_f32(b, result_of(false), {64, 16});
  const auto json = run("diff --json " + a + " " + b + " --problem " + raw).json();
  REQUIRE(json["different"] > 0);
  CHECK_THAT(json["cause"]["best"].get<std::string>(), contains_text("deepgemm-cpu, f32"));
  CHECK((variant(json["cause"], "deepgemm-cpu, f32 scales")["sample"] == 64 * 16));
  CHECK(variant(json["cause"], "deepgemm, f32 scales")["differing"] == 0);
  CHECK(variant(json["cause"], "deepgemm, f32 scales")["sample"] == 64 * 16 - json["different"].get<int>());
}
