// Between argv and CLI11: what the option parser does not do as docs/cli.md promises.
//
// 1. Negative numbers are plain arguments. CLI11 takes "-4" for the option -4, so a word that starts like a negative number
//    is handed over with its minus replaced by a mark, and every option puts the minus back before it looks.
// 2. A usage error is one sentence that names the command, what was found and the nearest thing that exists.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace fp8twin::cli {

/// The arguments after the program's name, negative numbers marked.
std::vector<std::string> mark_negative_numbers(int argc, char** argv);
/// Text with the marks turned back to minus signs.
std::string unmark(std::string text);
/// Makes every option of `app` and its commands unmark its values.
void unmark_all_options(CLI::App& app);

/// The candidate closest to `word` by edits, or "" when none is close.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// The sentence for an error of the parser.
std::string usage_message(const CLI::App& app, const std::vector<std::string>& arguments,
                          const CLI::ParseError& error);

}  // namespace fp8twin::cli
