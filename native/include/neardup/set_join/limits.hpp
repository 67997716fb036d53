// The mass that two documents must share to reach a threshold.
//
// The mass of a feature is its squared weight for the cosine, else its weight, which is 1 in a set;
// that of a document or of a part of it is the sum. All limits are slightly low, so that rounding
// never loses a pair; the true similarity decides in the end.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "neardup/set_join/join.hpp"

namespace neardup {

class Limits {
  public:
    Limits(Measure measure, bool weighted, double threshold)
        : cosine_(measure == Measure::cosine),
          of_one_(is_of_one(measure)),
          first_(measure == Measure::inclusion),
          weighted_(weighted) {
        const double t = threshold * (1 - 1e-9);
        if (of_one_) {
            required_ = index_ = t;
            size_ = asked_ = first_ ? t : 0;
            probe_ = 0;
            partner_ = 1 / t;
            return;
        }
        required_ = cosine_ ? t : t / (1 + t);
        size_ = !cosine_ ? t : weighted ? 0 : t * t;
        probe_ = asked_ = cosine_ ? t * t : t;
        index_ = !cosine_ ? 2 * t / (1 + t) : weighted ? t * t : t;
        partner_ = cosine_ ? 1 / (t * t) : (1 + t) / t;
    }

    // Of a weight, or of what a suffix is said to have.
    double mass(double weight) const { return cosine_ ? weight * weight : weight; }

    // The least and the largest mass of a document that one of `mass`, if asked for, is similar to.
    double least_size(double mass) const { return size_ * mass; }
    double largest_size(double mass) const {
        return size_ > 0 && !first_ ? mass / size_ : std::numeric_limits<double>::infinity();
    }

    // A document shares more than any part of it that is lighter than this, with a document that
    // is not heavier, and with one that is not lighter.
    double probe(double mass) const { return probe_ * mass; }
    double index(double mass) const { return index_ * mass; }

    // The same for a document that is asked for, with any other.
    double asked(double mass) const { return asked_ * mass; }

    // Whether a document can be similar to far heavier ones. They are found by all features of the
    // heavier one: those of its prefix, and the further ones.
    bool of_any_size() const { return of_one_; }

    // The largest mass of a document that is similar to one of `mass`, and shares only features of
    // a part of it that weighs `part`. Not for the cosine of weights, whose documents weigh 1.
    double heaviest_partner(double mass, double part) const {
        if (of_one_)
            return part < index(mass) ? partner_ * part : std::numeric_limits<double>::infinity();
        return cosine_ ? partner_ * part * part / mass : partner_ * part - mass;
    }

    // By inclusion, the largest mass of a document that one of `mass` includes.
    double heaviest_included(double mass) const { return partner_ * mass; }

    // What documents of these masses share at least, if they are similar. Weights of the cosine are
    // those of documents of length 1.
    double required(double a, double b) const {
        if (of_one_) return required_ * (first_ ? a : std::min(a, b));
        if (!cosine_) return required_ * (a + b);
        return weighted_ ? required_ : required_ * std::sqrt(a * b);
    }

    // What two weights of a feature add to what is shared; and what two suffixes can share at most,
    // which for the cosine is by Cauchy and Schwarz.
    double both(double a, double b) const { return cosine_ ? a * b : std::min(a, b); }

  private:
    bool cosine_, of_one_, first_, weighted_;
    double required_, size_, probe_, asked_, index_, partner_;
};

}  // namespace neardup
