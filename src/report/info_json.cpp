#include "report/describe.h"
#include "report/kinds.h"

namespace loaderscope::dataset {
namespace {

void describe_counts(ResultVisitor& form, ResultVisitor::Name name,
                     std::map<std::string, std::int64_t, std::less<>>& counts,
                     ResultVisitor::Sentence sentence) {
  std::vector<std::pair<std::string, std::int64_t>> items(counts.begin(), counts.end());
  form.entries(name, items, sentence,
               [&](ResultVisitor::Name key, std::int64_t& count) { form.whole(key, count, ""); });
  if (form.reads()) counts.insert(items.begin(), items.end());
}

void describe_measure(ResultVisitor& form, ResultVisitor::Name name, Measure& measure,
                      ResultVisitor::Sentence sentence) {
  const auto quantile = [&](ResultVisitor::Name key, double q) {
    form.shown(key, measure.histogram.quantile(q), "");
  };
  form.object(
      name, sentence,
      [&] {
        form.whole("min", measure.least, "");
        quantile("p10", 0.1);
        quantile("p50", 0.5);
        quantile("p90", 0.9);
        quantile("p99", 0.99);
        form.whole("max", measure.most, "");
        describe_buckets(form, measure.histogram, measure.most,
                         "all of them: [index, count, sum], ascending. Values below 128 have their "
                         "own bucket; above, every power of two is cut into 128");
      },
      Lines::one);
}

void describe_damaged(ResultVisitor& form, DatasetInfo& info) {
  const auto file = [&](DamagedFile& damaged) {
    form.object(
        "", "",
        [&] {
          form.text("path", damaged.path, "in the folder");
          form.text("cause", damaged.cause, "what is wrong with it");
        },
        Lines::one);
  };
  form.object("damaged", "images that no run could use", [&] {
    form.whole("count", info.damaged, "all of them");
    form.list("first", info.first_damaged, "in the order of their paths, at most 10", file);
  });
}

void describe_mixing(ResultVisitor& form, const char* name, const char* what,
                     std::optional<OrderMixing>& mixing) {
  form.optional(name, mixing, AbsentValue::left_out, [&](OrderMixing& order) {
    form.object(
        name, what,
        [&] {
          form.real("distance", order.distance, "distance from a uniform shuffle, 0 to 1", kShare);
          form.real("by_chance", order.chance_limit,
                    "limit that a uniform shuffle exceeds once in a thousand times", kNotNegative);
        },
        Lines::one);
  });
}

void describe_shuffle(ResultVisitor& form, DatasetInfo& info) {
  form.optional("shuffle", info.shuffle, AbsentValue::left_out, [&](ShuffleQuality& shuffle) {
    form.object(
        "shuffle", "how well streams mix what lies side by side",
        [&] {
          form.whole("streams", shuffle.streams, "all of an epoch together");
          form.real("distance", shuffle.distance,
                    "of the places of stored neighbours from those of a uniform shuffle, by "
                    "Kolmogorov and Smirnov",
                    kShare);
          form.real("by_chance", shuffle.chance_limit,
                    "a uniform shuffle has less, but once in a thousand", kNotNegative);
          form.real("apart", shuffle.apart, "samples between stored neighbours, median",
                    kNotNegative);
          form.real("uniform_apart", shuffle.uniform_apart, "of a uniform shuffle", kNotNegative);
          form.whole("memory_bytes", shuffle.memory, "of one stream's buffer, about");
          describe_mixing(form, "rank",
                          "of the samples of a rank whose workers have these streams and alternate "
                          "after each batch of 64",
                          shuffle.rank);
          describe_mixing(form, "epochs",
                          "of an epoch of the first stream by the places that its samples had in "
                          "the one before",
                          shuffle.epochs);
        },
        Lines::one);
  });
}

}  // namespace

void describe_info(ResultVisitor& form, DatasetInfo& info) {
  form.text("path", info.path, "the folder, or the files");
  form.text("format", info.format, "the format that it is in");
  form.flag("checked", info.checked,
            "every image was decoded, every array read; false: headers and lengths were looked at");
  form.flag("interrupted", info.interrupted, "stopped by a signal: there is more");
  form.seconds("index_s", info.index,
               "until it is known where every sample lies, by no index of an earlier run");
  form.whole("samples", info.samples, "arrays, which are no images");
  form.text("layout", info.layout, "of each of them; empty: there are none");
  form.whole("objects", info.objects, "files where each holds several samples, else 0");
  form.whole("objects_bytes", info.stored, "of those files together");
  describe_measure(form, "object_bytes", info.object_bytes, "of such a file");
  form.whole("images", info.images, "images that are not damaged");
  form.whole("bytes", info.bytes, "of them");
  form.whole("pixels", info.pixels, "of them");
  describe_measure(form, "stored_bytes", info.stored_bytes,
                   "stored size of an image: the extremes, and percentiles within 1 %");
  describe_measure(form, "width", info.widths,
                   "width of an image: the extremes, and percentiles within 1 %");
  describe_measure(form, "height", info.heights,
                   "height of an image: the extremes, and percentiles within 1 %");
  describe_measure(form, "aspect", info.aspects,
                   "width to height in thousandths: the extremes, and percentiles within 1 %");
  describe_measure(
      form, "quality", info.qualities,
      "quality of JPEG images as libjpeg counts it, by their tables: the extremes, and "
      "percentiles within 1 %");
  describe_counts(form, "formats", info.formats, "images by format");
  describe_counts(form, "subsampling", info.subsamplings,
                  "JPEG images by how their colours are subsampled");
  form.whole("progressive", info.progressive, "JPEG images that are stored in scans");
  form.if_there("engine_refusals", !info.engine_refusals.empty(), AbsentValue::left_out, [&] {
    describe_counts(form, "engine_refusals", info.engine_refusals,
                    "images that the JPEG engines of a GPU leave to a CPU, by reason; absent where "
                    "there are none");
  });
  describe_counts(form, "classes", info.classes,
                  "images by the folder in the folder; empty when it is flat");
  form.whole("other_files", info.other_files, "files that are no images");
  form.whole("unreadable_folders", info.unreadable_folders, "whose files are not counted");
  describe_damaged(form, info);
  describe_shuffle(form, info);
  form.texts("notes", info.notes, "of the source, one sentence each");
}

void describe_drift(ResultVisitor& form, Drift& drift) {
  const auto difference = [&](Difference& one) {
    form.object(
        "", "",
        [&] {
          form.text("what", one.what, "the property");
          form.text("a", one.a, "what it is in a");
          form.text("b", one.b, "what it is in b");
          form.real("share", one.share, "of the samples that would have to be others, at least",
                    kShare);
          form.real("by_chance", one.chance_limit,
                    "two draws from one source differ by less, but once in a thousand",
                    kNotNegative);
          form.shown("real", one.is_real(), "it is beyond chance");
        },
        Lines::one);
  };
  form.list("differences", drift.differences, "of what both have: the largest first", difference);
  form.object("a", "the first data set", [&] { describe_info(form, drift.a); });
  form.object("b", "the second", [&] { describe_info(form, drift.b); });
}

}  // namespace loaderscope::dataset
