// Compiled once for each target, with FP8TWIN_EIGEN its name: native, avx2, baseline. See eigen_product.hpp.
#define FP8TWIN_JOIN(a, b)         a##b
#define FP8TWIN_NAME(prefix, name) FP8TWIN_JOIN(prefix, name)
#define Eigen                      FP8TWIN_NAME(Eigen_, FP8TWIN_EIGEN)
#include <Eigen/Dense>

// After Eigen, whose headers use the word too.
#include "emulator/bench/eigen_product.hpp"

namespace fp8twin::bench {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class EigenProduct : public Product {
 public:
  EigenProduct(std::int64_t m, std::int64_t n, std::int64_t k, int threads)
      : a_(RowMajor::Random(m, k)), b_(RowMajor::Random(n, k)), d_(m, n), threads_(threads) {}

  void run() override {
    Eigen::setNbThreads(threads_);
    d_.noalias() = a_ * b_.transpose();
  }

 private:
  RowMajor a_, b_, d_;
  int threads_;
};

}  // namespace

std::unique_ptr<Product> FP8TWIN_NAME(eigen_, FP8TWIN_EIGEN)(std::int64_t m, std::int64_t n, std::int64_t k,
                                                             int threads) {
  return std::make_unique<EigenProduct>(m, n, k, threads);
}

}  // namespace fp8twin::bench
