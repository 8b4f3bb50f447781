// Runs fp8twin-mpi as a job of several ranks on this machine, and keeps what the job said.
//
// Open MPI is told, through the environment, what a container with two cores, no network and the user root needs.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tests/catch.hpp"
#include "tests/cli/run_program.hpp"

namespace fp8twin::test {

/// More ranks than cores, none bound; shared memory alone, by copying twice; no remote shell; no banner about the exit
/// status, and no second of grace for ranks after one has left with it.
inline const std::string job_environment =
    "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
    "OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl=self,vader "
    "OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm=isolated OMPI_MCA_orte_execute_quiet=1 "
    "OMPI_MCA_odls_base_sigkill_timeout=0; ";

/// "-n RANKS fp8twin-mpi ARGUMENTS", as mpiexec takes it; several joined by " : " make one job.
inline std::string ranks(int number, const std::string& arguments) {
  return std::to_string(number) + " " FP8TWIN_MPI_PROGRAM " " + arguments;
}

inline Result run_job(const std::string& what) {
  const Folder folder;
  const std::string out = folder / "out", err = folder / "err";
  const int raw = std::system(
      (job_environment + FP8TWIN_MPIEXEC " " + what + " >" + out + " 2>" + err + " </dev/null").c_str());
  return {WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw), read_text(out), read_text(err)};
}

/// Status 0 and an empty stderr; returns stdout.
inline std::string job_succeeds(const std::string& what) {
  const Result result = run_job(what);
  INFO(what << ": " << result.err);
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  return result.out;
}

/// Status 2, an empty stdout and one line on stderr, from all ranks together, that has `part`.
inline void job_refuses(const std::string& what, const std::string& part) {
  const Result result = run_job(what);
  INFO(what << ": " << result.err);
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
  CHECK_THAT(result.err, contains_text("fp8twin-mpi: "));
  CHECK_THAT(result.err, contains_text(part));
}

}  // namespace fp8twin::test
