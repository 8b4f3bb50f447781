// Two implementers of one vocabulary: gpu/ptx and emulator/ptx have the same files, and each file the same functions with the same
// number of parameters. Both headers are read as text, so this needs neither toolkit nor GPU.
#include "emulator/ptx/vocabulary.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/machine/small_kernel.hpp"

namespace {

const std::filesystem::path root = FP8TWIN_SOURCE_DIR;

/// Without comments, preprocessor lines and their continuations.
std::string code(const std::string& file) {
  std::ifstream stream(root / file);
  INFO(file);
  REQUIRE(stream);
  std::string text;
  bool continued = false;
  for (std::string line; std::getline(stream, line);) {
    const bool directive = continued || line.starts_with('#');
    continued = directive && line.ends_with('\\');
    if (!directive) text += line.substr(0, line.find("//")) + "\n";
  }
  return text;
}

std::set<std::string> files(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(root / folder))
    names.insert(entry.path().filename().string());
  return names;
}

struct Parameters {
  int count = 0;
  bool site = false;  // the emulator's last one, invisible to kernels
};

/// Of the list that begins behind `open`, up to its closing parenthesis.
Parameters parameters(const std::string& text, std::size_t open) {
  int depth = 0, commas = 0;
  std::size_t at = open;
  for (; at < text.size() && !(depth == 0 && text[at] == ')'); ++at) {
    const char c = text[at];
    if (c == '(' || c == '<' || c == '{') ++depth;
    if (c == ')' || c == '>' || c == '}') --depth;
    if (c == ',' && depth == 0) ++commas;
  }
  const std::string list = text.substr(open, at - open);
  const bool empty = std::all_of(list.begin(), list.end(), [](char c) { return c == ' ' || c == '\n'; });
  const bool site = list.find("Site site") != std::string::npos;
  return {empty ? 0 : commas + 1 - site, site};
}

/// "name/parameters" of each function that begins with one of `words`: constructors, operators and helpers of namespace machine apart.
std::multiset<std::string> functions(const std::string& text, const std::string& words) {
  const std::regex begin("(?:^|\\n) {0,2}(?:" + words + ")\\s+[\\w:<>]+[&\\s]+([a-z]\\w*)\\s*\\(");
  std::multiset<std::string> found;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), begin); it != std::sregex_iterator(); ++it) {
    const std::size_t open = static_cast<std::size_t>(it->position()) + it->str().size();
    if ((*it)[1].str().starts_with("operator")) continue;
    found.insert((*it)[1].str() + "/" + std::to_string(parameters(text, open).count));
  }
  return found;
}

/// Without what stands in namespace machine: helpers, which no kernel calls.
std::string without_machine(std::string text) {
  for (;;) {
    const std::size_t begin = text.find("\nnamespace machine {");
    if (begin == std::string::npos) return text;
    const std::size_t end = text.find("\n}\n", begin);
    REQUIRE(end != std::string::npos);
    // The namespace's own brace stands at the margin, and so do those of its functions.
    std::size_t close = end;
    int depth = 0;
    for (close = text.find('{', begin); close < text.size(); ++close) {
      depth += text[close] == '{';
      depth -= text[close] == '}';
      if (depth == 0) break;
    }
    text.erase(begin, close + 1 - begin);
  }
}

}  // namespace

TEST_CASE("gpu/ptx and emulator/ptx have the same files") {
  std::set<std::string> emulated = files("emulator/ptx");
  CHECK(emulated.erase("vocabulary.hpp") ==
        1);  // all of them; a kernel on the card gets them from gpu/kernels/machine.hpp
  CHECK(emulated == files("gpu/ptx"));
  CHECK(emulated.size() == 22);
}

TEST_CASE("both sides include all of them") {
  const auto includes = [](const std::string& file, const std::string& folder) {
    std::ifstream stream(root / file);
    std::set<std::string> names;
    for (std::string line; std::getline(stream, line);) {
      const std::string begin = "#include \"" + folder + "/";
      if (line.starts_with(begin)) names.insert(line.substr(begin.size(), line.size() - begin.size() - 1));
    }
    return names;
  };
  CHECK(includes("gpu/kernels/machine.hpp", "gpu/ptx") == files("gpu/ptx"));
  CHECK(includes("emulator/ptx/vocabulary.hpp", "emulator/ptx") == files("gpu/ptx"));
}

TEST_CASE("the same functions with the same parameters, file by file") {
  std::size_t all = 0;
  for (const std::string& file : files("gpu/ptx")) {
    if (file == "words.hpp") continue;
    INFO(file);
    std::multiset<std::string> card = functions(code("gpu/ptx/" + file), "FP8TWIN_DEVICE");
    // Helpers of the inline assembly.
    card.erase("accumulator_fence/1");
    // The arithmetic of emulator/number is the emulator's: one file, where model and machine find it.
    const std::multiset<std::string> emulated =
        file == "fma.hpp" ? functions(code("emulator/number/float_bits.hpp"), "inline|constexpr")
                          : functions(without_machine(code("emulator/ptx/" + file)), "inline");
    all += card.size();
    CHECK_FALSE(card.empty());
    if (file == "fma.hpp") {
      for (const std::string& function : card) CHECK(emulated.count(function) == 1);
    } else {
      CHECK(emulated == card);
    }
  }
  CHECK(all > 60);
}

TEST_CASE("the same types and words") {
  for (const char* file : {"ld_st.hpp", "ld_st_narrow.hpp", "wgmma.hpp"}) {
    const std::string card = code(std::string("gpu/ptx/") + file),
                      emulated = code(std::string("emulator/ptx/") + file);
    for (const char* type : {"U32x2", "U32x4", "CacheHint", "AFragment", "Accumulator", "Registers"}) {
      const std::regex declares("(struct|class|enum class) " + std::string(type) + "\\b");
      CHECK(std::regex_search(card, declares) == std::regex_search(emulated, declares));
    }
  }
  const auto macros = [](const std::string& file) {
    std::ifstream stream(root / file);
    std::set<std::string> names;
    std::smatch match;
    for (std::string line; std::getline(stream, line);) {
      if (std::regex_search(line, match, std::regex("^#define (\\w+)"))) names.insert(match[1]);
    }
    return names;
  };
  const std::set<std::string> card = macros("gpu/ptx/words.hpp");
  for (const std::string& word : macros("emulator/ptx/words.hpp")) CHECK(card.count(word) == 1);
  CHECK(macros("emulator/ptx/words.hpp").count("FP8TWIN_UNROLL") == 1);
}

TEST_CASE("griddepcontrol: one grid at a time, so nothing to wait for") {
  fp8twin::u32 passed = 0;
  fp8twin::test::run({.threads = 3}, [&] {
    fp8twin::griddepcontrol_wait();
    ++passed;
    fp8twin::griddepcontrol_launch_dependents();
  });
  CHECK(passed == 3);
}
