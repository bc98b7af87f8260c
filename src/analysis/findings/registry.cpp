#include "analysis/findings/facts.h"

namespace loaderscope {

// Of findings that give back equally much the one that stands first here is said first: settings
// that cost nothing or memory stand before those that cost cores.
std::span<const FindingRow> finding_table() {
  static const FindingRow table[] = {
      {{"no-workers", "The trainer makes every batch itself."}, no_workers},
      {{"order-stall", "A finished batch waits behind a late one."}, order_stall},
      {{"prefetch-too-shallow", "The workers rest because the window is full, and then are late."},
       prefetch_too_shallow},
      {{"storage-bandwidth", "The storage gives all the bytes per second that it has."},
       storage_bandwidth},
      {{"small-files", "The first byte of a small file costs more than its bytes."}, small_files},
      {{"storage-latency", "Reads wait for their first byte, and too few run at once."},
       storage_latency},
      {{"cold-cache", "The data was not in the page cache."}, cold_cache},
      {{"decompression", "Reading spends its time on unpacking what is stored."}, decompression},
      {{"too-few-workers", "The workers never rest, and there are cores for more."},
       too_few_workers},
      {{"too-many-workers", "There are more workers than cores, and fewer would do."},
       too_many_workers,
       GivesBack::resources},
      {{"cpu-quota", "Affinity or a CPU quota takes cores away that the machine has."}, cpu_quota},
      {{"other-programs", "Other programs on this machine take the cores."}, other_programs},
      {{"nested-thread-pools", "Libraries start threads of their own in every worker."},
       nested_thread_pools},
      {{"cpu-oversubscribed", "More threads want to run than there are cores."},
       cpu_oversubscribed},
      {{"workers-restarted", "Every epoch starts its workers anew."}, workers_restarted},
      {{"pageable-copies", "Batches are copied to the device from pageable memory."},
       pageable_copies},
      {{"copy-not-overlapped", "The device computes nothing while it copies."},
       copy_not_overlapped},
      {{"pinning-costs-more", "Copying into page-locked memory costs more than it saves."},
       pinning_costs_more},
      {{"serialisation-tax", "Batches are long on their way from worker to trainer."},
       serialisation_tax},
      {{"slow-trainer", "A batch is there and the trainer is slow to use it."}, slow_trainer},
      {{"decode-bound", "Decoding takes longer than the GPU."}, decode_bound},
      {{"augment-bound", "Augmenting takes longer than the GPU."}, augment_bound},
      {{"prefetch-wastes-memory", "The window is always full, and a smaller one would do."},
       prefetch_wastes_memory,
       GivesBack::resources},
      {{"memory-limit-near", "The memory of the machine is nearly used up."},
       memory_limit_near,
       GivesBack::resources},
      {{"memory-grows", "Resident memory grows as long as the job runs."},
       memory_grows,
       GivesBack::resources},
      {{"far-numa-node", "The loader runs on a NUMA node that the GPU is not on."},
       far_numa_node,
       GivesBack::resources},
      {{"link-below-rating", "The link to the GPU is narrower or slower than it can be."},
       link_below_rating,
       GivesBack::resources},
      {{"ranks-see-same-data", "Ranks are given the same samples in the same epoch."},
       ranks_see_same_data,
       GivesBack::resources},
      {{"gpu-is-the-limit", "The GPU hardly waits."}, gpu_is_the_limit, GivesBack::nothing},
      {{"first-epoch-startup", "The first batch is long in coming."},
       first_epoch_startup,
       GivesBack::resources},
  };
  return table;
}

}  // namespace loaderscope
