#include "report/kinds.h"

namespace loaderscope::dataset {
namespace {

void describe_counts(Form& form, Form::Name name,
                     const std::map<std::string, std::int64_t, std::less<>>& counts,
                     Form::Sentence sentence) {
  std::vector<std::pair<std::string, std::int64_t>> items(counts.begin(), counts.end());
  form.entries(name, items, sentence,
               [&](Form::Name key, std::int64_t count) { form.shown(key, count, ""); });
}

void describe_measure(Form& form, Form::Name name, const Measure& measure,
                      Form::Sentence sentence) {
  const auto quantile = [&](Form::Name key, double q) {
    form.shown(key, measure.histogram.quantile(q), "");
  };
  form.object(
      name, sentence,
      [&] {
        form.shown("min", measure.least, "");
        quantile("p10", 0.1);
        quantile("p50", 0.5);
        quantile("p90", 0.9);
        quantile("p99", 0.99);
        form.shown("max", measure.most, "");
      },
      Lines::one);
}

void describe_damaged(Form& form, DatasetInfo& info) {
  const auto file = [&](DamagedFile& damaged) {
    form.object(
        "", "",
        [&] {
          form.shown("path", damaged.path, "in the folder");
          form.shown("cause", damaged.cause, "what is wrong with it");
        },
        Lines::one);
  };
  form.object("damaged", "images that no run could use", [&] {
    form.shown("count", info.damaged, "all of them");
    form.list("first", info.first_damaged, "in the order of their paths, at most 10", file);
  });
}

}  // namespace

void describe_info(Form& form, DatasetInfo& info) {
  form.shown("path", info.path, "the folder");
  form.shown("checked", info.checked,
             "every image was decoded; false: headers and lengths were looked at");
  form.shown("interrupted", info.interrupted, "stopped by a signal: there is more");
  form.shown("images", info.images, "files that are images and not damaged");
  form.shown("bytes", info.bytes, "of them");
  form.shown("pixels", info.pixels, "of them");
  describe_measure(form, "stored_bytes", info.stored_bytes,
                   "size of an image's file: the extremes, and percentiles within 1 %");
  describe_measure(form, "width", info.widths, "of an image, likewise");
  describe_measure(form, "height", info.heights, "of an image, likewise");
  describe_counts(form, "formats", info.formats, "images by format");
  describe_counts(form, "subsampling", info.subsamplings,
                  "JPEG images by how their colours are subsampled");
  form.shown("progressive", info.progressive, "JPEG images that are stored in scans");
  describe_counts(form, "classes", info.classes,
                  "images by the folder in the folder; empty when it is flat");
  form.shown("other_files", info.other_files, "files that are no images");
  form.shown("unreadable_folders", info.unreadable_folders, "whose files are not counted");
  describe_damaged(form, info);
}

}  // namespace loaderscope::dataset
