// Ten pipelines in which several causes share the waiting, and the one that leads, by hand. They
// tune nothing: rules are made for the cases of the other files here. Everything in them sleeps, so
// that the native engine can run them on two cores, 1 to 2 s each.
//
// In the workings T is what a worker needs for one batch, C the compute of a step. Of the time that
// is waited for a batch the last part of its making is booked, so long waits are shared as T is.
#pragma once

#include <ostream>

namespace loaderscope::known_answer {

struct MixedPipeline {
  const char* name;
  const char* settings;  // scenario lines, in one
  const char* bound_by;
};

inline void PrintTo(const MixedPipeline& pipeline, std::ostream* out) { *out << pipeline.settings; }

inline constexpr MixedPipeline kMixedPipelines[] = {
    // T = 8 x (4 + 2.5 + 1) + 2 = 62, three workers: a batch every 20.7 ms, C = 8. Of 7.5 ms of a
    // sample 4 are read.
    {"photographs_on_a_network_disk",
     "workers=3 batch=8 cost=read=lognormal:4ms:0.6 cost=decode=2500us:sleep "
     "cost=augment=1ms:sleep cost=collate=2ms:sleep cost=h2d=1ms compute=8ms warmup=6 steps=78",
     "read"},

    // T = 8 x (0.5 + 6 + 2) = 68, four workers: every 17 ms, C = 6 and 1 of copying. Of 8.5 ms of a
    // sample 6 are decode.
    {"large_images_from_memory",
     "workers=4 batch=8 memory=pageable cost=read=500us cost=decode=lognormal:6ms:0.5:sleep "
     "cost=augment=2ms:sleep cost=h2d=1ms compute=6ms warmup=8 steps=80",
     "decode"},

    // T = 4 x (1 + 2 + 5) + 2 = 34, two workers: every 17 ms, C = 5 and 1 of copying. Pinning takes
    // 2 ms of each wait, collate 2, and of the rest 5 in 8 are augment.
    {"augmentations_at_random",
     "workers=2 batch=4 memory=pin-thread cost=read=1ms cost=decode=2ms:sleep "
     "cost=augment=exponential:5ms:sleep cost=collate=2ms:sleep cost=pin=2ms:sleep cost=h2d=1ms "
     "compute=5ms warmup=6 steps=80",
     "augment"},

    // T = 8 x (0.5 + 0.5) + 20 = 28, two workers: two batches in 28 ms, C = 5. The 18 ms waited
    // are the end of the making: collate.
    {"graphs_that_are_joined_into_one",
     "workers=2 batch=8 cost=read=500us cost=decode=500us:sleep cost=collate=20ms:sleep "
     "compute=5ms warmup=6 steps=80",
     "collate"},

    // T = 16, four workers: every 4 ms. The pin thread passes one every 12 ms; copy 2 and C = 6
    // leave 4 of them waiting for pin.
    {"one_thread_pins_for_many_workers",
     "workers=4 batch=8 memory=pin-thread cost=read=500us cost=decode=lognormal:1500us:0.3:sleep "
     "cost=pin=12ms:sleep cost=h2d=2ms compute=6ms warmup=8 steps=100",
     "pin"},

    // T = 4 x (1 + 4) = 20, two workers: every 10 ms. The trainer copies 7 ms when the compute of
    // 6 ms has ended: every 13 ms, in which the workers keep up, but for their longest batches.
    {"large_tensors_from_pageable_memory",
     "workers=2 batch=4 memory=pageable cost=read=1ms cost=decode=lognormal:4ms:0.4:sleep "
     "cost=h2d=7ms compute=6ms warmup=6 steps=100",
     "h2d"},

    // T = 12, four workers: every 3 ms. The trainer unpacks 12 ms for each batch; copy 1 and C = 5
    // leave 6 of them.
    {"lists_of_objects_between_processes",
     "workers=4 batch=8 cost=read=500us cost=decode=1ms:sleep cost=transport=2ms:sleep "
     "cost=transport.recv=12ms:sleep cost=h2d=1ms compute=5ms warmup=8 steps=100",
     "transport"},

    // An epoch is ten batches. T = 8 x (1 + 2) = 24, two workers, C = 11: about 2 ms in every two
    // steps and 24 for the first batch, two thirds of it decode: some 20 ms. The start takes 100,
    // of which at most two computes hide 22.
    {"short_epochs_of_new_workers",
     "samples=80 epochs=11 workers=2 batch=8 cost=startup=100ms cost=read=1ms "
     "cost=decode=2ms:sleep compute=11ms warmup=10",
     "startup"},

    // T = 4 x (0.3 + 2) = 9.2 on average, two workers: every 4.6 ms, C = 6. Only single images that
    // take many times the mean are waited for, and the window of 2 covers nothing of them.
    {"a_few_huge_images_and_a_shallow_window",
     "workers=2 batch=4 prefetch-factor=1 cost=read=300us cost=decode=lognormal:2ms:1:sleep "
     "compute=6ms warmup=10 steps=200",
     "decode"},

    // Rank 0 needs 6 x 4 / 2 = 12 ms for a batch, rank 1, whose reads take 3 ms more, 6 x 7 / 2 =
    // 21, C = 9. Both wait 12 ms of every step for rank 1, of whose 7 ms for a sample 4 are read.
    {"the_disk_of_one_rank_is_slow",
     "ranks=2 sync-ranks=true workers=2 batch=6 cost=read=1ms inject=read=+3ms@rank=1 "
     "cost=decode=2ms:sleep cost=augment=1ms:sleep compute=9ms warmup=6 steps=80",
     "read"},
};

}  // namespace loaderscope::known_answer
