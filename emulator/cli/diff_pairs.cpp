#include "emulator/cli/diff_pairs.hpp"

#include <fmt/core.h>

#include "emulator/files/quote.hpp"
#include "emulator/support/error.hpp"

namespace fp8twin::cli {
namespace {

bool is_npy(const TensorFile& file) { return file.path.ends_with(".npy"); }

std::string names_of(const TensorFile& file) {
  std::vector<std::string_view> names;
  for (const Tensor& tensor : file.tensors) names.push_back(tensor.name);
  return list_names(names);
}

/// The one tensor of an .npy file whatever name was asked for, else the tensor called `name`.
const Tensor& named(const TensorFile& file, const std::string& name) {
  return is_npy(file) && !file.tensors.empty() ? file.tensors.front() : file.at(name);
}

/// Pairs of tensors by the names of --tensor, or by what the files hold.
class Pairs {
 public:
  Pairs(const TensorFile& a, const TensorFile& b) : a_(a), b_(b) {}

  std::vector<TensorPair> by_option(const std::vector<std::string>& options) {
    for (const std::string& option : options) {
      const std::size_t split = a_.find(option) && b_.find(option) ? std::string::npos : option.find('=');
      const std::string left = option.substr(0, split);
      add(named(a_, left), named(b_, split == std::string::npos ? left : option.substr(split + 1)));
    }
    return std::move(subjects_);
  }

  std::vector<TensorPair> by_content(bool only_d) {
    if (only_d && a_.find("d") && b_.find("d")) {
      add(a_.at("d"), b_.at("d"));
    } else if (is_npy(a_) || is_npy(b_)) {
      pair_npy();
    } else {
      pair_names();
    }
    return std::move(subjects_);
  }

 private:
  void pair_npy() {
    for (const auto* file : {&a_, &b_}) {
      if (file->tensors.size() != 1) {
        throw Error(fmt::format(
            "{} holds {} tensors ({}) and the other file one; --tensor has to say which to compare",
            file->path, file->tensors.size(), names_of(*file)));
      }
    }
    add(a_.tensors.front(), b_.tensors.front());
  }

  void pair_names() {
    for (const auto& [file, other] : {std::pair(&a_, &b_), std::pair(&b_, &a_)}) {
      for (const Tensor& tensor : file->tensors) {
        if (other->find(tensor.name)) continue;
        throw Error(
            fmt::format("{} holds a tensor {} that {} lacks (its tensors: {}); --tensor compares chosen ones",
                        file->path, quote(tensor.name), other->path, names_of(*other)));
      }
    }
    for (const Tensor& tensor : a_.tensors) add(tensor, b_.at(tensor.name));
  }

  void add(Tensor a, Tensor b) {
    // An .npy file has no FP8 type: codes lie in it as uint8.
    if (is_npy(a_) && a.dtype == DType::u8 && dtype_size(b.dtype) == 1) a.dtype = b.dtype;
    if (is_npy(b_) && b.dtype == DType::u8 && dtype_size(a.dtype) == 1) b.dtype = a.dtype;
    if (a.dtype != b.dtype || a.shape != b.shape) {
      throw Error(
          fmt::format("{}: tensor {} is {} {} and {}: tensor {} is {} {}; needed are one dtype and one shape",
                      a_.path, quote(a.name), dtype_name(a.dtype), shape_text(a.shape), b_.path,
                      quote(b.name), dtype_name(b.dtype), shape_text(b.shape)));
    }
    const std::string name = a.name == b.name ? a.name : a.name + " and " + b.name;
    subjects_.push_back({name, std::move(a), std::move(b)});
  }

  const TensorFile &a_, &b_;
  std::vector<TensorPair> subjects_;
};

}  // namespace

std::vector<TensorPair> pair_tensors(const TensorFile& a, const TensorFile& b,
                                     const std::vector<std::string>& names, bool prefer_d) {
  Pairs pairs(a, b);
  return names.empty() ? pairs.by_content(prefer_d) : pairs.by_option(names);
}

}  // namespace fp8twin::cli
