// CPU time that other threads of the process take while one makes a batch: those of a library, such
// as a tokenizer, for which the thread waits.
#pragma once

namespace loaderscope::guest::library_threads {

// The calling thread makes a batch between these two. A thread that begins again has left the batch
// before. Takes 2 us of a batch of at least 1 ms. Only each 16th of shorter batches is measured.
void begin();
void end();

// Drops the parent's state in the child of a fork.
void forget();

}  // namespace loaderscope::guest::library_threads
