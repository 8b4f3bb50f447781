#include "emulator/cli/arguments.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace fp8twin::cli {
namespace {

constexpr char mark = '\x01';  // no sensible argument starts with it

bool starts_like_negative_number(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return false;
  const auto lower = [&](std::size_t i) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(word[i])));
  };
  if (std::isdigit(static_cast<unsigned char>(word[1])) || word[1] == '.' || word[1] == '(') return true;
  if (word.size() < 4) return false;
  const std::string start{lower(1), lower(2), lower(3)};
  return start == "inf" || start == "nan";
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0u);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string best = nearest(word, candidates);
  return best.empty() ? "" : fmt::format("; did you mean {}?", best);
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// The error while no command (or no `kind` of a command) was recognised where `words` begin.
std::string command_message(const CLI::App& app, const std::string& kind,
                            const std::vector<std::string>& words) {
  const std::vector<std::string> names = command_names(app);
  const std::string all = CLI::detail::join(names, ", ");
  if (words.empty()) return fmt::format("no {} given; one of {} is needed", kind, all);
  const std::string& word = words.front();
  const std::string hint = did_you_mean(word, names);
  if (!hint.empty()) return fmt::format("no {} is called '{}'{}", kind, word, hint);
  return fmt::format("no {} is called '{}'; one of {} is needed", kind, word, all);
}

/// The error within a command.
std::string option_message(const CLI::App& command, const CLI::ParseError& error) {
  // An unknown option explains whatever else is wrong: "-o is missing" helps nobody who typed --out.
  const std::vector<std::string> rest = command.remaining();
  for (const std::string& word : rest) {
    if (!word.starts_with("-") || word == "--") continue;
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("no option is called {}{}", name, did_you_mean(name, option_names(command)));
  }
  const bool required = dynamic_cast<const CLI::RequiredError*>(&error);
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() > 1 && option->get_items_expected_max() <= 1) {
      return fmt::format("{} is given {} times; once is enough", option->get_name(), option->count());
    }
    if (required && option->get_required() && option->count() == 0) {
      return fmt::format("{} is missing: {}", option->get_name(), option->get_description());
    }
  }
  const std::string message = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error))
    return message.substr(0, message.find(':')) + " needs a value";
  if (!rest.empty()) return fmt::format("'{}' is one argument too many", rest.front());
  return message;
}

}  // namespace

std::vector<std::string> mark_negative_numbers(int argc, char** argv) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  for (std::string& word : arguments) {
    if (starts_like_negative_number(word)) word[0] = mark;
  }
  return arguments;
}

std::string unmark(std::string text) {
  std::replace(text.begin(), text.end(), mark, '-');
  return text;
}

void unmark_all_options(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() > 0) option->transform(unmark);
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) unmark_all_options(*command);
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const bool abbreviation = word.size() >= 3 && candidate.starts_with(word);
    const std::size_t distance = abbreviation ? 1 : edit_distance(word, candidate);
    if (distance < best_distance && word.size() > 2) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string usage_message(const CLI::App& app, const std::vector<std::string>& arguments,
                          const CLI::ParseError& error) {
  if (command_names(app).empty())
    return unmark(fmt::format("{} ({} --help)", option_message(app, error), app.get_name()));
  if (!arguments.empty() && arguments.front().starts_with("-")) {
    return fmt::format("{} comes before any command; give the command first (fp8twin --help)",
                       arguments.front());
  }
  if (app.get_subcommands().empty())
    return unmark(fmt::format("{} (fp8twin --help)", command_message(app, "command", arguments)));
  // "layout" or "layout fragment": down to the last word that is a command.
  const CLI::App* command = app.get_subcommands().front();
  std::string path = command->get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += " " + command->get_name();
  }
  const bool no_kind = !command_names(*command).empty();
  const std::string message =
      no_kind ? command_message(*command, "kind", command->remaining()) : option_message(*command, error);
  return unmark(fmt::format("{}: {} (fp8twin {} --help)", path, message, path));
}

}  // namespace fp8twin::cli
