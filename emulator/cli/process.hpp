// What the program settles with the operating system before it works and when it ends.
//
// Signals: SIGINT and SIGTERM (and SIGHUP, unless nohup asked to ignore it) remove unfinished output files and end with
// 128 + the signal's number. SIGPIPE and SIGXFSZ are ignored, so that a reader gone away or a size limit is an
// error of write(), and gets a sentence and status 2 like any other.
// Descriptors 0 to 2 are made to exist: else an output file could become "stdout" and the answer land in it.
#pragma once

#include <string>

namespace fp8twin::cli {

void prepare_process();

/// The sentence for the exception that is being handled; to be called in a catch block.
std::string failure_text();

/// Writes all of `text` to stdout and flushes. Throws Error.
void write_stdout(const std::string& text);

}  // namespace fp8twin::cli
