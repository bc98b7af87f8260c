// A plan, member by member.
#include "analysis/totals.h"
#include "report/describe.h"
#include "report/kinds.h"

namespace loaderscope {
namespace {

void describe_storage(ResultVisitor& form, SharedStorage& storage) {
  form.real("bytes_per_s", storage.bandwidth, "that all hosts share", kNotNegative);
  form.seconds("latency_s", storage.latency, "to the first byte of a read");
}

void describe_decode_hosts(ResultVisitor& form, DecodeHosts& hosts) {
  form.whole("count", hosts.count, "hosts without ranks, that decode for all of them");
  form.whole("cores", hosts.cores, "of each");
  form.real("bytes_per_s", hosts.rate, "that each sends; 0: any", kNotNegative);
}

void describe_question(ResultVisitor& form, PlanRequest& question) {
  form.object("question", "what was planned", [&] {
    form.whole("ranks", question.ranks, "of the job");
    form.whole("hosts", question.hosts, "that they are spread over");
    form.optional("storage", question.storage, AbsentValue::null, [&](SharedStorage& storage) {
      form.object("storage", "that all hosts read from; null: that of the run",
                  [&] { describe_storage(form, storage); });
    });
    form.optional("decode_hosts", question.decode, AbsentValue::null, [&](DecodeHosts& hosts) {
      form.object("decode_hosts", "null: each host decodes for its own ranks",
                  [&] { describe_decode_hosts(form, hosts); });
    });
    describe_changes(form, question.changes, "what was set of the run besides, KEY=VALUE");
    form.real_or_null("gpu_price", question.gpu_price, "per hour", kNotNegative);
  });
}

void describe_size(ResultVisitor& form, JobSize& size, bool has_busy) {
  form.whole("ranks", size.ranks, "of the job");
  form.whole("hosts", size.hosts, "that they are spread over");
  form.real("samples_per_s", size.samples_per_s, "rate, of all ranks", kNotNegative);
  std::optional<double> busy = has_busy ? std::optional(busy_share(size.account)) : std::nullopt;
  form.real_or_null("busy", busy, "share of the window that the GPUs compute; null without compute",
                    kShare);
  form.seconds("window_s", size.account.window, "length, in the model");
  form.optional("epoch_s", size.epoch_s, AbsentValue::left_out, [&](double& known) {
    form.real("epoch_s", known,
              "of one epoch, where whole ones were run: how they begin is in the rate",
              kNotNegative);
  });
  describe_stalls(form, size.account);
}

void describe_thing(ResultVisitor& form, SharedResource& thing) {
  form.text("name", thing.name, "what ranks share, see 'loaderscope list shared'");
  form.real("needed", thing.needed, "for GPUs that never wait: bytes per second, cores or workers",
            kNotNegative);
  form.real("given", thing.given, "what there is of it", kNotNegative);
  form.real_or_null("full_at_ranks", thing.full_at_ranks,
                    "number of ranks that need all of it; null where each host has its own",
                    kNotNegative);
}

void describe_epoch(ResultVisitor& form, JobEpoch& epoch) {
  form.whole("samples", epoch.samples, "of all ranks");
  form.whole("steps", epoch.steps, "of each rank");
  form.real("predicted_s", epoch.seconds, "how long an epoch takes", kNotNegative);
  const auto if_begun = [&](const char* name, double& value, const char* help) {
    auto some = epoch.start_s > 0 || form.reads() ? std::optional(value) : std::nullopt;
    form.optional(name, some, AbsentValue::left_out,
                  [&](double& known) { form.real(name, known, help, kNotNegative); });
    if (form.reads()) value = some.value_or(0);
  };
  if_begun("start_s", epoch.start_s,
           "of it, before its first batch, as in the run; absent where the run saw no begin");
  if_begun("busy", epoch.busy, "share of it that GPUs compute, its begin included");
  form.real("gpu_hours", epoch.gpu_hours, "of all ranks", kNotNegative);
  form.real_or_null("price", epoch.price, "at the price of a GPU; null without one", kNotNegative);
  form.real_or_null("price_of_waiting", epoch.price_of_waiting, "of that, what the waiting costs",
                    kNotNegative);
}

}  // namespace

void describe_plan(ResultVisitor& form, JobPlan& plan) {
  describe_question(form, plan.question);
  form.flag("has_busy", plan.has_busy, "there is a compute to be busy with");
  form.object("measured", "the run that the plan is made from",
              [&] { describe_size(form, plan.measured, plan.has_busy); });
  form.list("sizes", plan.sizes, "from one host on, in the model; the job is the last",
            [&](JobSize& size) {
              form.object("", "the job with this number of ranks",
                          [&] { describe_size(form, size, plan.has_busy); });
            });
  form.list("shared", plan.shared, "what ranks share, at the size of the job",
            [&](SharedResource& thing) {
              form.object("", "one of them", [&] { describe_thing(form, thing); });
            });
  form.text_or_null("full_first", plan.first_full,
                    "what is full with the fewest ranks; null: nothing is");
  form.optional("with_enough", plan.if_unlimited, AbsentValue::left_out, [&](JobSize& size) {
    form.object("with_enough",
                "where something is full, the job with twice what is needed of all that ranks "
                "share: GPUs that wait then wait for something else",
                [&] { describe_size(form, size, plan.has_busy); });
  });
  form.optional("epoch", plan.epoch, AbsentValue::null, [&](JobEpoch& epoch) {
    form.object("epoch", "null where the number of samples is not known",
                [&] { describe_epoch(form, epoch); });
  });
  form.whole("data_bytes", plan.data_bytes, "that an epoch reads; 0: not known");
  form.object("fit", "how well the model gives back the run",
              [&] { describe_fit_errors(form, plan.fit); });
  describe_history(form, plan.history);
  form.texts("notes", plan.notes, "assumptions of the plan, and its limits");
}

}  // namespace loaderscope
