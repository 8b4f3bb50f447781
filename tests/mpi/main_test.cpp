// fp8twin-mpi: for every kind of problem and 1 to 4 ranks the file that `fp8twin gemm` writes; what goes wrong on any
// rank is one sentence, and no file.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/cli/expect.hpp"
#include "tests/mpi/run_job.hpp"

using namespace fp8twin::test;

namespace {

std::ptrdiff_t files_in(const Folder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.path()), {});
}

/// Computes `problem` both ways and compares the files.
void same_bytes(const Folder& folder, const std::string& problem, int number, const std::string& options = "",
                const std::string& suffix = ".safetensors") {
  const std::string alone = folder / ("alone" + suffix), together = folder / ("together" + suffix);
  INFO(problem << ' ' << options << ", " << number << " ranks");
  succeeds("gemm " + problem + " -o " + alone + " " + options);
  job_succeeds(ranks(number, problem + " -o " + together + " " + options));
  CHECK(read_text(together) == read_text(alone));
  std::filesystem::remove(together);
}

}  // namespace

TEST_CASE("a dense product: the same bytes from 1, 2, 3 and 4 ranks, in either format") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors";
  succeeds("random " + problem + " --m 200 --n 450 --k 300 --seed 5");
  same_bytes(folder, problem, 1);
  same_bytes(folder, problem, 2, "--output f32", ".npy");
  same_bytes(folder, problem, 3, "--threads 2");
  same_bytes(folder, problem, 4, "--output f32 --fraction-bits 25 --simd portable");
  same_bytes(folder, problem, 4, "", ".npy");
}

TEST_CASE("every other kind: the same bytes") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors";
  for (const std::string kind :
       {"1d1d --m 200 --n 450 --k 300 --with-c", "contiguous --groups 200,0,56,300 --n 300 --k 200",
        "masked --groups 100,0,5 --max-m 130 --n 300 --k 200", "k-grouped --groups 200,0,56 --m 130 --n 300",
        "k-grouped --groups 200,0,56 --m 130 --n 300 --with-c", "batched --groups 3 --m 70 --n 300 --k 200",
        "wgmma --n 256 --k 64 --with-c"}) {
    succeeds("random " + problem + " --kind " + kind);
    same_bytes(folder, problem, 2, "--output bf16");
    same_bytes(folder, problem, 4, "--output f32");
  }
}

TEST_CASE("more ranks than work, and no work at all") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors";
  succeeds("random " + problem + " --m 3 --n 5 --k 200");
  same_bytes(folder, problem, 4);
  succeeds("random " + problem + " --m 0 --n 5 --k 200");
  same_bytes(folder, problem, 2, "", ".npy");
  succeeds("random " + problem + " --m 3 --n 5 --k 0");
  same_bytes(folder, problem, 3);
}

TEST_CASE("without mpirun it is a job of one rank") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors", out = folder / "d.safetensors";
  succeeds("random " + problem + " --m 70 --n 300 --k 300");
  const int status = std::system(
      (job_environment + FP8TWIN_MPI_PROGRAM " " + problem + " -o " + out + " >" + (folder / "said"))
          .c_str());
  CHECK(status == 0);
  CHECK_THAT(read_text(folder / "said"), contains_text("engine model, 1 rank\n"));
  succeeds("gemm " + problem + " -o " + (folder / "alone.safetensors"));
  CHECK(read_text(out) == read_text(folder / "alone.safetensors"));
}

TEST_CASE("rank 0 alone speaks: help, version, answer, progress") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors", out = folder / "d.npy";
  succeeds("random " + problem + " --m 600 --n 600 --k 300");
  CHECK_THAT(job_succeeds(ranks(2, "--help")), contains_text("Usage: fp8twin-mpi"));
  CHECK_THAT(job_succeeds(ranks(3, "--version")), contains_text("fp8twin-mpi 0."));
  const auto json = nlohmann::json::parse(job_succeeds(ranks(3, problem + " -o " + out + " --json")));
  nlohmann::json alone = answer("gemm " + problem + " -o " + (folder / "alone.npy"));
  alone["output"] = out;
  alone["ranks"] = 3;
  CHECK(json == alone);
  const Result told = run_job(ranks(3, problem + " -o " + out + " --progress"));
  CHECK(told.err ==
        "gemm: 10 %\ngemm: 20 %\ngemm: 30 %\ngemm: 40 %\ngemm: 50 %\ngemm: 60 %\ngemm: 70 %\ngemm: 80 %\n"
        "gemm: 90 %\ngemm: 100 %\n");
}

TEST_CASE("what cannot be done is one sentence for the whole job, and no file appears") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors", out = folder / "d.safetensors",
                    command = problem + " -o " + out;
  succeeds("random " + problem + " --m 5 --n 6 --k 200");
  job_refuses(ranks(3, command + " --fast"), "no option is called --fast");
  job_refuses(ranks(2, problem), "-o is missing");
  job_refuses(ranks(2, command + " --output f16"), "--output: found 'f16'");
  job_refuses(ranks(2, command + " --promote none"), problem + ": tensor 'a_scale'");
  job_refuses(ranks(2, (folder / "none.safetensors") + " -o " + out), "none.safetensors: cannot be read");
  job_refuses(ranks(2, problem + " -o " + (folder / "none/d.npy")), "none/d.npy: cannot be written");
  job_refuses(ranks(2, problem + " -o " + (folder / "")), "is a directory");
  job_refuses(ranks(2, problem + " -o " + problem), "is another file of this command");
  job_refuses(ranks(2, problem + " -o /dev/null"), "/dev/null: is a pipe or a device; a file is needed");
  CHECK(files_in(folder) == 1);
}

TEST_CASE("what fails on one rank alone ends the job, and the sentence says where") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors", other = folder / "q.safetensors",
                    out = folder / "d.safetensors", rest = " -o " + out + " --output f32";
  succeeds("random " + problem + " --m 2048 --n 1100 --k 32");
  succeeds("random " + other + " --m 2048 --n 1101 --k 32");
  const std::string rank_0 = ranks(1, problem + rest) + " : -n ";
  job_refuses(rank_0 + ranks(1, (folder / "none.npy") + rest), "none.npy: cannot be read: No such file");
  job_refuses(rank_0 + ranks(2, other + rest), "rank 1 on ");
  job_refuses(rank_0 + ranks(2, other + rest), "q.safetensors: is another problem here than on rank 0");
  succeeds("random " + other + " --m 2048 --n 1100 --k 32 --seed 2");  // of the same shape
  job_refuses(rank_0 + ranks(1, other + rest), "q.safetensors: is another problem here than on rank 0");
  job_refuses(rank_0 + ranks(1, problem + " -o " + out), "the ranks were given different options");
  for (const char* option : {" --fraction-bits 5", " --promote none", " --help"}) {
    job_refuses(rank_0 + ranks(1, problem + rest + option), "the ranks were given different options");
  }
  // The second half of d's 9 MB lies beyond what rank 1 may write.
  job_refuses(rank_0 + "1 bash -c 'ulimit -f 8192; exec " FP8TWIN_MPI_PROGRAM " " + problem + rest + "'",
              "d.safetensors: cannot be written: File too large");
  CHECK(files_in(folder) == 2);
}

// Slow arithmetic, so that the job is at work when the signal comes. mpirun may be gone before its ranks are, so rank 0
// leaves its process id.
TEST_CASE("a signal to the job leaves no unfinished file") {
  const Folder folder;
  const std::string problem = folder / "p.safetensors";
  succeeds("random " + problem + " --m 2048 --n 2048 --k 8192");
  std::ofstream(folder / "script")
      << job_environment << "unset OMPI_MCA_odls_base_sigkill_timeout; cd " << folder.path()
      << "; " FP8TWIN_MPIEXEC R"( 2 sh -c '
      echo $$ >pid.$OMPI_COMM_WORLD_RANK
      exec )" FP8TWIN_MPI_PROGRAM
         R"( p.safetensors -o d.safetensors --simd portable --threads 1' >said 2>&1 & job=$!
    while kill -0 $job && ! ls -a | grep -q '^[.]fp8twin-'; do :; done
    kill -TERM $job
    wait $job
    status=$?
    while kill -0 $(cat pid.0); do :; done 2>/dev/null
    exit $status)";
  CHECK(std::system(("sh " + (folder / "script")).c_str()) != 0);
  CHECK(std::filesystem::exists(folder / "pid.0"));
  for (const std::string& name : folder.names()) {
    CHECK(name != "d.safetensors");
    CHECK_FALSE(name.starts_with(".fp8twin-"));
  }
}
