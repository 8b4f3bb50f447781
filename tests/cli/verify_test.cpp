// `verify`: no difference where there is none; where there is one, commands that show it; and what it refuses.
#include <cctype>

#include "tests/catch.hpp"
#include "tests/cli/expect.hpp"
#include "tests/gpu/skip.hpp"

using namespace fp8twin::test;

namespace {
#if defined(__SANITIZE_THREAD__)  // a minute else, and the same code
constexpr int model_budget = 10'000'000;
#else
constexpr int model_budget = 500'000'000;
#endif
}  // namespace

TEST_CASE("twenty small problems: model and machine agree, within the budget") {
#if defined(__SANITIZE_THREAD__)  // a minute else, and the same code
  const int budget = 2'000'000;
#else
  const int budget = 20'000'000;
#endif
  const nlohmann::json json =
      answer("verify --engines model,machine --count 20 --seed 3 --machine-macs " + std::to_string(budget));
  CHECK(json["engines"] == nlohmann::json::array({"model", "machine"}));
  CHECK(json["problems"] == 20);
  CHECK(json["differing"] == 0);
  CHECK(json["first"].is_null());
  CHECK(json["seed"] == 3);
  CHECK(json["macs"]["machine"] <= budget);
  CHECK(json["macs"]["machine"] == json["macs"]["model"]);
  CHECK(json["elements"] > 20);
}

TEST_CASE("every kind through the model with all of its instructions") {
  const std::string command = "verify --engines model,model --count 120 --seed 4 --model-macs " +
                              std::to_string(model_budget) + " --kind ";
  std::int64_t problems = 0;
  const nlohmann::json json = answer(command + "1d2d,1d1d,batched --kind contiguous,masked,k-grouped");
  CHECK(json["problems"] == 120);
  CHECK(json["differing"] == 0);
  CHECK(json["kinds"].size() == 6);
  for (const auto& count : json["kinds"]) problems += count.get<std::int64_t>();
  CHECK(problems == 120);
  CHECK(json["macs"]["model"] == json["macs"]["model-2"]);
  const nlohmann::json masked = answer(command + "masked");
  CHECK(masked["kinds"] == nlohmann::json{{"masked", 120}});
}

TEST_CASE("the least budget is enough, and spent on the least problems") {
  const nlohmann::json json =
      answer("verify --engines model,machine --count 6 --machine-macs 768 --kernel 1");
  CHECK(json["problems"] == 6);
  CHECK(json["macs"]["machine"] <= 768);
  CHECK(json["macs"]["machine"] > 100);
}

TEST_CASE("one kernel only; the same seed draws the same problems") {
  const std::string command =
      "verify --engines machine,model --count 4 --machine-macs 1e6 --kernel gemm_3_stages --json";
  const std::string once = succeeds(command);
  CHECK(once == succeeds(command));
  CHECK(once != succeeds(command + " --seed 2"));
}

namespace {

/// Runs `command`, which finds a difference, and then the commands it prints: they show the same one.
nlohmann::json difference(const std::string& command) {
  const Result text = run(command);
  CHECK(text.status == 1);
  CHECK_THAT(text.out, contains_text("to see it:\n  fp8twin random p.safetensors"));
  const Result result = run(command + " --json");
  REQUIRE(result.status == 1);
  const nlohmann::json json = result.json();
  CHECK(json["differing"] == 1);
  const nlohmann::json first = json["first"];
  CHECK(first["a"] != first["b"]);

  const Folder folder;
  const std::string there = "cd '" + (folder / "") + "' && ";
  const auto lines = first["reproduce"].get<std::vector<std::string>>();
  REQUIRE(lines.size() == 4);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    REQUIRE(lines[i].starts_with("fp8twin "));
    const Result shown = run(lines[i].substr(8) + (i == 3 ? " --json" : ""), there);
    INFO(lines[i] << ": " << shown.err);
    REQUIRE(shown.status == (i == 3 ? 1 : 0));
    if (i < 3) continue;
    CHECK(shown.json()["different"] == first["different"]);
    CHECK(shown.json()["first"]["index"] == first["index"]);
    CHECK(shown.json()["first"]["a"] == first["a"]);
    CHECK(shown.json()["first"]["b"] == first["b"]);
  }
  return first;
}

}  // namespace

TEST_CASE("a difference ends it with status 1 and the commands that show it") {
  difference("verify --engines model,machine --count 50 --machine-macs 2e7 --fraction-bits 7 --kernel 1");
}

TEST_CASE("a difference of every kind is reproduced") {
  for (const std::string kind : {"1d2d", "1d1d", "batched", "contiguous", "masked", "k-grouped"}) {
    for (const char* seed : {"1", "2", "3"}) {
      const nlohmann::json first =
          difference("verify --engines model,model --fraction-bits 7 --count 50 --model-macs 2e7 --kind " +
                     kind + " --seed " + seed);
      INFO(first.dump());
      CHECK(first["engines"] == nlohmann::json::array({"model", "model-2"}));
    }
  }
}

TEST_CASE("model, machine and card agree") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip("the driver does not run under sanitizers");
#else
  const Result result = run("verify --engines model,machine,gpu --count 8 --machine-macs 2e7 --json");
  if (result.status == 2) {
    skip(result.err);
    return;
  }
  CHECK(result.status == 0);
  CHECK(result.json()["problems"] == 8);
#endif
}

TEST_CASE("what cannot be verified is a sentence") {
  refuses("verify", "--engines is missing");
  refuses("verify --engines model", "--engines: found 'model' alone");
  refuses("verify --engines gpu,model,gpu", "found gpu twice");
  refuses("verify --engines model,machine --kind wgmma", "--kind: found 'wgmma'");
  refuses("verify --engines model,model --kind masked,", "--kind: found ''");
  refuses("verify --engines model,machine --kernel 7 --kind masked", "--kind: found masked");
  refuses("verify --engines model,fast", "--engines: found 'fast'");
  refuses("verify --engines model,", "--engines: found ''");
  refuses("verify --engines model,machine --count 0", "0 is out of range");
  refuses("verify --engines model,machine --minutes -1", "--minutes: found '-1'");
  refuses("verify --engines model,machine --machine-macs many", "--machine-macs: found 'many'");
  refuses("verify --engines model,machine --count 20 --machine-macs 2000", "2000 multiply-adds are too few");
  refuses("verify --engines model,machine --kernel 10", "'10' is no kernel");
}
