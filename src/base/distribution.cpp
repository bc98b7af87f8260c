#include "base/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/printable.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

template <std::size_t N>
double polynomial(const double (&coefficients)[N], double x) {
  double value = 0;
  for (std::size_t i = N; i-- > 0;) value = value * x + coefficients[i];
  return value;
}

constexpr double kZ99 = 2.3263478740408408;  // inverse_normal(0.99)

// sigma of ln for a lognormal whose 99th percentile is `ratio` times its mean:
// ln ratio = z sigma - sigma^2 / 2, the smaller root.
double lognormal_sigma(double ratio) {
  if (!(ratio > 1)) throw ValueError("expected a p99 above the mean");
  const double discriminant = kZ99 * kZ99 - 2 * std::log(ratio);
  if (discriminant < 0) {
    throw ValueError("expected a p99 below 14.97 times the mean: no lognormal has a larger one");
  }
  return kZ99 - std::sqrt(discriminant);
}

Distribution lognormal(double mean, double sigma) {
  if (!(mean > 0)) throw ValueError("expected a mean above 0 for a lognormal");
  if (!(sigma > 0) || sigma > 10) {
    throw ValueError("expected a sigma of ln above 0 and at most 10, such as 0.5");
  }
  return {Distribution::Shape::lognormal, mean, sigma};
}

using Parts = std::vector<std::string_view>;

Distribution parse_lognormal(const Parts& parts, ValueParser parse, bool is_rate) {
  if (parts.size() != 3)
    throw ValueError("expected lognormal:MEAN:SIGMA or lognormal:MEAN:p99=VALUE");
  const double mean = parse(parts[1]);
  if (!parts[2].starts_with("p99=")) return lognormal(mean, parse_real(parts[2]));
  const double p99 = parse(parts[2].substr(4));
  if (is_rate && p99 >= mean) throw ValueError("expected a p99 slower than the mean rate");
  return lognormal(mean, lognormal_sigma(is_rate ? mean / p99 : p99 / mean));
}

Distribution parse_uniform(const Parts& parts, ValueParser parse) {
  if (parts.size() != 3) throw ValueError("expected uniform:LOW:HIGH");
  const double low = parse(parts[1]), high = parse(parts[2]);
  if (low > high) throw ValueError("expected uniform:LOW:HIGH with LOW not above HIGH");
  if (low == high) return {Distribution::Shape::constant, low, 0};
  return {Distribution::Shape::uniform, (low + high) / 2, (high - low) / 2};
}

Distribution parse_exponential(const Parts& parts, ValueParser parse) {
  if (parts.size() != 2) throw ValueError("expected exponential:MEAN");
  const double mean = parse(parts[1]);
  if (!(mean > 0)) throw ValueError("expected a mean above 0 for an exponential");
  return {Distribution::Shape::exponential, mean, 0};
}

}  // namespace

// Wichura's algorithm AS 241 (PPND16), accurate to about 1 part in 10^16. By hand: draws of saved
// runs and made data sets must have the same bits with every version of a library.
double inverse_normal(double u) {
  static constexpr double a[] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                 1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                 3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr double b[] = {1.0,
                                 4.2313330701600911252e+1,
                                 6.8718700749205790830e+2,
                                 5.3941960214247511077e+3,
                                 2.1213794301586595867e+4,
                                 3.9307895800092710610e+4,
                                 2.8729085735721942674e+4,
                                 5.2264952788528545610e+3};
  static constexpr double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                 5.76949722146069140550e0,  3.64784832476320460504e0,
                                 1.27045825245236838258e0,  2.41780725177450611770e-1,
                                 2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double d[] = {1.0,
                                 2.05319162663775882187e0,
                                 1.67638483018380384940e0,
                                 6.89767334985100004550e-1,
                                 1.48103976427480074590e-1,
                                 1.51986665636164571966e-2,
                                 5.47593808499534494600e-4,
                                 1.05075007164441684324e-9};
  static constexpr double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                 1.78482653991729133580e0,  2.96560571828504891230e-1,
                                 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                 2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double f[] = {1.0,
                                 5.99832206555887937690e-1,
                                 1.36929880922735805310e-1,
                                 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15};
  const double q = u - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  const double r = std::sqrt(-std::log(q < 0 ? u : 1 - u));
  const double z = r <= 5 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6)
                          : polynomial(e, r - 5) / polynomial(f, r - 5);
  return q < 0 ? -z : z;
}

double Distribution::quantile(double u) const {
  switch (shape) {
    case Shape::constant:
      return mean;
    case Shape::lognormal:
      return mean * std::exp(spread * (inverse_normal(u) - spread / 2));
    case Shape::exponential:
      return -mean * std::log1p(-u);
    case Shape::uniform:
      return mean - spread + 2 * spread * u;
  }
  return mean;
}

Distribution parse_distribution(std::string_view text, ValueParser parse, bool is_rate) {
  Parts parts = split(text, ':');
  if (parts[0] == "lognormal") return parse_lognormal(parts, parse, is_rate);
  if (parts[0] == "exponential") return parse_exponential(parts, parse);
  if (parts[0] == "uniform") return parse_uniform(parts, parse);
  if (parts.size() == 1) return {Distribution::Shape::constant, parse(parts[0]), 0};
  if (parts.size() == 2 && parts[1].starts_with("p99=")) {
    parts.insert(parts.begin(), "lognormal");
    return parse_lognormal(parts, parse, is_rate);
  }
  if (!parts[0].empty() && parts[0].find_first_of("0123456789.") != 0) {
    throw ValueError("expected the name lognormal, exponential or uniform before the value" +
                     suggestion(parts[0], {"lognormal", "exponential", "uniform"}));
  }
  throw ValueError(
      "expected VALUE, VALUE:p99=VALUE, lognormal:MEAN:SIGMA, exponential:MEAN or "
      "uniform:LOW:HIGH");
}

Distribution parse_distribution(std::string_view text, double (*parse_value)(std::string_view)) {
  return parse_distribution(text, parse_value, false);
}

std::string distribution_to_text(const Distribution& d, std::string (*value_to_text)(double)) {
  switch (d.shape) {
    case Distribution::Shape::constant:
      return value_to_text(d.mean);
    case Distribution::Shape::lognormal:
      return "lognormal:" + value_to_text(d.mean) + ":" + real_to_text(d.spread);
    case Distribution::Shape::exponential:
      return "exponential:" + value_to_text(d.mean);
    case Distribution::Shape::uniform:
      return "uniform:" + value_to_text(d.mean - d.spread) + ":" + value_to_text(d.mean + d.spread);
  }
  return "";
}

Distribution parse_time_distribution(std::string_view text) {
  return parse_distribution(text, [](std::string_view value) {
    const Nanos ns = parse_duration(value);
    if (ns > kMaxCost) throw ValueError("expected a duration of at most 30 days");
    return static_cast<double>(ns);
  });
}

std::string time_distribution_to_text(const Distribution& d) {
  return distribution_to_text(d, [](double ns) { return duration_to_text(std::llround(ns)); });
}

}  // namespace loaderscope
