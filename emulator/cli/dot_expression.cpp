#include "emulator/cli/dot_expression.hpp"

#include <fmt/core.h>

#include <cctype>

#include "emulator/cli/explain.hpp"
#include "emulator/cli/values.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin::cli {
namespace {

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '.'; }

class Parser {
 public:
  Parser(const std::string& text, int most) : text_(text), most_(static_cast<std::size_t>(most)) {}

  std::vector<DotProduct> sum() {
    bool negative = accept('-');
    do {
      term(negative);
      negative = peek() == '-';
    } while (accept('+') || accept('-'));
    if (peek() != '\0') refuse("'+', '-' or the end");
    return std::move(products_);
  }

 private:
  void term(bool negative) {
    if (peek() == '(') return add(1, parenthesised(), negative);
    const bool minus = accept('-');
    const std::string first = word();
    expect('*');
    if (peek() != '(') return add(1, {value(first, minus), factor()}, negative);
    if (minus)
      throw Error(fmt::format("explain dot: -{} stands before '('; a count from 1 to {} is needed there",
                              first, most_));
    const std::int64_t count =
        parse_integer("explain dot: the count before '('", first, 1, static_cast<std::int64_t>(most_));
    add(static_cast<std::size_t>(count), parenthesised(), negative);
  }

  DotProduct parenthesised() {
    expect('(');
    const E4M3 a = factor();
    expect('*');
    const E4M3 b = factor();
    expect(')');
    return {a, b};
  }

  E4M3 factor() {
    const bool minus = accept('-');
    return value(word(), minus);
  }

  static E4M3 value(const std::string& word, bool minus) {
    E4M3 code;
    if (is_bit_pattern(word)) {
      code.code = static_cast<std::uint8_t>(parse_bits("explain dot", word, 8));
    } else {
      const float x = parse_f32("explain dot", word);
      code = E4M3::satfinite(x);
      if (!is_nan(x) && code.value() != x) {
        throw Error(fmt::format("explain dot: {} is no E4M3 value; needed is one, such as {}", word,
                                e4m3_neighbours(x)));
      }
    }
    return minus ? E4M3{static_cast<std::uint8_t>(code.code ^ 0x80)} : code;
  }

  void add(std::size_t count, DotProduct product, bool negative) {
    if (negative) product.a.code ^= 0x80;
    if (products_.size() + count > most_) {
      throw Error(
          fmt::format("explain dot: there are more than {} products; the tensor core sums at most {} at once",
                      most_, most_));
    }
    products_.insert(products_.end(), count, product);
  }

  /// The letters, digits and points of a number; a sign only after a decimal's e.
  std::string word() {
    peek();
    const std::size_t start = at_;
    while (at_ < text_.size()) {
      const bool exponent_sign = at_ > start && (text_[at_] == '-' || text_[at_] == '+') &&
                                 (text_[at_ - 1] | 0x20) == 'e' &&
                                 std::isdigit(static_cast<unsigned char>(text_[start])) &&
                                 !is_bit_pattern(std::string_view(text_).substr(start));
      if (!is_word_character(text_[at_]) && !exponent_sign) break;
      ++at_;
    }
    if (at_ == start) refuse("a number");
    return text_.substr(start, at_ - start);
  }

  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) refuse(fmt::format("'{}'", c));
  }

  [[noreturn]] void refuse(const std::string& needed) const {
    const std::string found = at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_)) : "the end";
    throw Error(fmt::format("explain dot: in '{}', found {} where {} is needed", text_, found, needed));
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::size_t most_;
  std::vector<DotProduct> products_;
};

}  // namespace

std::vector<DotProduct> parse_dot(const std::string& text, int most) { return Parser(text, most).sum(); }

}  // namespace fp8twin::cli
