// Metrics: the value of each is in the group of its name, and a list has their descriptions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/old_words.h"
#include "report/describe.h"
#include "report/result_path.h"

namespace loaderscope {
namespace {

const std::vector<std::string_view> kJoined = {"mean", "sum_of_machine", "sum", "same"};

void describe_value(ResultVisitor& form, const MetricPlace& place, double& value) {
  form.if_there(place.name, std::isfinite(value), AbsentValue::null,
                [&] { form.real(place.name, value, "in the unit that metrics names"); });
}

std::vector<std::string_view> metric_groups(const std::vector<Metric>& metrics) {
  std::vector<std::string_view> groups;
  for (const Metric& metric : metrics) {
    const MetricPlace place = place_of_metric(metric.name);
    if (!place.ok())
      throw std::logic_error("metric '" + metric.name + "' needs a name such as memory.rss_bytes");
    if (std::find(groups.begin(), groups.end(), place.group) == groups.end())
      groups.push_back(place.group);
  }
  return groups;
}

void write_values(ResultVisitor& form, std::vector<Metric>& metrics) {
  for (const std::string_view group : metric_groups(metrics)) {
    form.object(group, "", [&] {
      for (Metric& metric : metrics) {
        const MetricPlace place = place_of_metric(metric.name);
        if (place.group == group) describe_value(form, place, metric.value);
      }
    });
  }
}

void read_values(ResultVisitor& form, std::vector<Metric>& metrics) {
  for (Metric& metric : metrics) {
    const MetricPlace place = place_of_metric(metric.name);
    if (!place.ok()) form.refuse("has the metric '" + metric.name + "', whose name is none");
    metric.value = std::numeric_limits<double>::quiet_NaN();  // default if the value is null
    form.object(place.group, "", [&] { describe_value(form, place, metric.value); });
    metric.name = std::string(current_word(WordKind::metric, metric.name));
  }
}

}  // namespace

bool MetricPlace::ok() const {
  return !group.empty() && !name.empty() && find_path_of_run(group) == nullptr;
}

MetricPlace place_of_metric(std::string_view metric) {
  const auto dot = metric.find('.');
  if (dot == metric.npos) return {};
  return {metric.substr(0, dot), metric.substr(dot + 1)};
}

void describe_metrics(ResultVisitor& form, std::vector<Metric>& metrics) {
  if (!form.reads()) write_values(form, metrics);
  form.list("metrics", metrics,
            "descriptions of the numbers that are not in the account; memory.x has the value of "
            "memory.x",
            [&](Metric& metric) {
              form.object(
                  "", "one number",
                  [&] {
                    form.text("name", metric.name, "path of its value");
                    form.text("unit", metric.unit, "bytes, s, 1 or 1/s");
                    form.text("help", metric.help, "what it is");
                    form.if_there("exact", metric.is_exact, AbsentValue::left_out, [&] {
                      form.flag("exact", metric.is_exact,
                                "for each sample; the same code over the same samples repeats it");
                    });
                    form.if_there("joined", metric.joined != MetricJoin::mean,
                                  AbsentValue::left_out, [&] {
                                    form.numbered_word(
                                        "joined", metric.joined, kJoined,
                                        "what of the values of a job's processes and hosts is its "
                                        "own; without it their mean");
                                  });
                  },
                  Lines::one);
            });
  if (form.reads()) read_values(form, metrics);
}

}  // namespace loaderscope
