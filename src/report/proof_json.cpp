#include "report/proof_json.h"

#include <fmt/format.h>

#include "loaderscope/engine.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMostCases = 64, kMostRuns = 1024;

void write_run(JsonStream& json, const ProofRun& run) {
  json.member("samples_per_s", run.samples_per_s);
  json.member("busy", run.busy);
}

void write_measured(JsonStream& json, std::string_view key, const Measured& value) {
  json.begin_object(key, kCompact);
  json.member("mean", value.mean);
  if (value.low && value.high) {
    json.begin_array("ci95");
    json.element(*value.low);
    json.element(*value.high);
    json.end_array();
  } else {
    json.null("ci95");
  }
  json.end_object();
}

void write_prediction(JsonStream& json, const std::optional<ProofPrediction>& predicted) {
  if (!predicted) return json.null("predicted");
  json.begin_object("predicted", kCompact);
  write_run(json, predicted->after);
  json.begin_object("base");
  write_run(json, predicted->base);
  json.end_object();
  json.member("gain", predicted->gain());
  json.member("error", predicted->error);
  json.end_object();
}

void write_outcome(JsonStream& json, const Proof& proof, const ProofCase& of) {
  if (of.runs.empty()) {
    for (std::string_view key : {"measured", "confirmed", "helps", "verdict"}) json.null(key);
    return;
  }
  const ProofOutcome outcome = outcome_of(proof, of);
  json.begin_object("measured");
  write_measured(json, "samples_per_s", outcome.samples_per_s);
  if (proof.has_busy) {
    write_measured(json, "busy", outcome.busy);
  } else {
    json.null("busy");
  }
  if (outcome.gain.mean > 0) {
    write_measured(json, "gain", outcome.gain);
  } else {
    json.null("gain");
  }
  json.end_object();
  if (outcome.confirmed) {
    json.member("confirmed", *outcome.confirmed);
  } else {
    json.null("confirmed");
  }
  if (outcome.helps) {
    json.member("helps", *outcome.helps);
  } else {
    json.null("helps");
  }
  json.member("verdict", name_of(outcome.verdict));
}

void write_case(JsonStream& json, std::string_view key, const Proof& proof, const ProofCase& of) {
  json.begin_object(key);
  json.member("name", std::string_view(of.name));
  json.begin_array("knocked_out", kCompact);
  for (const auto& word : Words<Stage>::table()) {
    if (of.knockouts.has(word.value)) json.element(word.name);
  }
  json.end_array();
  json.begin_array("changes", kCompact);
  for (const Change& change : of.changes)
    json.element(std::string_view(change.key + "=" + change.value));
  json.end_array();
  write_text(json, "missing", of.missing);
  write_prediction(json, of.predicted);
  write_outcome(json, proof, of);
  json.begin_array("runs", kCompact);
  for (const ProofRun& run : of.runs) {
    json.begin_object();
    write_run(json, run);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

double not_negative(const JsonCursor& json) {
  const double value = json.real();
  if (!(value >= 0)) json.fail("is less than 0");
  return value;
}

// Within which times of a step can be shown.
double rate_at(const JsonCursor& json) {
  constexpr double kLeast = 1e-6, kMost = 1e15;
  const double value = json.real();
  if (!(value >= kLeast && value <= kMost)) json.fail("is no rate that can be measured");
  return value;
}

ProofRun read_proof_run(const JsonCursor& json) {
  ProofRun run{rate_at(json.at("samples_per_s")), not_negative(json.at("busy"))};
  if (run.busy > 1) json.at("busy").fail("is more than 1");
  return run;
}

std::string read_text(const JsonCursor& json) { return json.is_null() ? "" : json.text(); }

void read_items(const JsonCursor& json, std::size_t most,
                const std::function<void(const JsonCursor&)>& take) {
  json.expect_array();
  if (json.size() > most) json.fail(fmt::format("has {} entries, more than {}", json.size(), most));
  for (std::size_t i = 0; i < json.size(); ++i) take(json.item(i));
}

void read_change(const JsonCursor& json, Changes& changes) {
  try {
    changes.push_back(parse_change(json.text()));
  } catch (const UsageError& error) {
    json.fail(std::string("is no setting: ") + error.what());
  }
}

void read_stage(const JsonCursor& json, Knockouts& knockouts) {
  const auto stage = value_of<Stage>(json.text());
  if (!stage) json.fail("is no stage");
  knockouts.add(*stage);
}

ProofCase read_case(const JsonCursor& json) {
  ProofCase of;
  of.name = json.at("name").text();
  read_items(json.at("knocked_out"), kStages,
             [&](const JsonCursor& stage) { read_stage(stage, of.knockouts); });
  read_items(json.at("changes"), kMostCases,
             [&](const JsonCursor& change) { read_change(change, of.changes); });
  of.missing = read_text(json.at("missing"));
  read_items(json.at("runs"), kMostRuns,
             [&](const JsonCursor& run) { of.runs.push_back(read_proof_run(run)); });
  const JsonCursor predicted = json.at("predicted");
  if (!predicted.is_null()) {
    of.predicted = ProofPrediction{read_proof_run(predicted.at("base")), read_proof_run(predicted),
                                   not_negative(predicted.at("error"))};
  }
  return of;
}

}  // namespace

void write_proof(JsonStream& json, const Proof& proof) {
  json.begin_object("proof");
  json.member("asked", name_of(proof.asked));
  write_text(json, "reason", proof.reason);
  json.member("exact", proof.exact);
  json.member("has_busy", proof.has_busy);
  json.member("gpu_is_limit", proof.gpu_is_limit);
  json.member("interrupted", proof.interrupted);
  write_case(json, "base", proof, proof.base);
  json.begin_array("cases");
  for (const ProofCase& of : proof.cases) write_case(json, {}, proof, of);
  json.end_array();
  json.end_object();
}

Proof read_proof(const JsonCursor& json) {
  Proof proof;
  const auto asked = value_of<Prove>(json.at("asked").text());
  if (!asked) json.at("asked").fail("is nothing that can be proved");
  proof.asked = *asked;
  proof.reason = read_text(json.at("reason"));
  proof.exact = json.at("exact").boolean();
  proof.has_busy = json.at("has_busy").boolean();
  proof.gpu_is_limit = json.has("gpu_is_limit") && json.at("gpu_is_limit").boolean();
  proof.interrupted = json.at("interrupted").boolean();
  proof.base = read_case(json.at("base"));
  read_items(json.at("cases"), kMostCases,
             [&](const JsonCursor& of) { proof.cases.push_back(read_case(of)); });
  return proof;
}

}  // namespace loaderscope
