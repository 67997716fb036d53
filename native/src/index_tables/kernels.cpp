// Compiled once per instruction set; see isa.hpp.
#include "neardup/index_tables/kernels.hpp"

#include "neardup/bits.hpp"
#include "neardup/byte_vector.hpp"

namespace neardup::NEARDUP_ISA {

#if defined(NEARDUP_USE_AVX512)

static std::uint32_t near_tags(const std::uint32_t* tags, std::uint32_t tag, std::uint32_t exact,
                               std::uint32_t most) {
    const __m512i same = _mm512_set1_epi32(static_cast<int>(tag));
    const __m512i exactly = _mm512_set1_epi32(static_cast<int>(exact));
    const __m512i limit = _mm512_set1_epi32(static_cast<int>(most));
    std::uint32_t near = 0;
    for (unsigned at = 0; at < kTagsAtOnce; at += 16) {
        const __m512i differ = _mm512_xor_si512(same, _mm512_loadu_si512(tags + at));
        const __mmask16 equal = _mm512_testn_epi32_mask(differ, exactly);
        near |= static_cast<std::uint32_t>(
                    _mm512_mask_cmple_epu32_mask(equal, _mm512_popcnt_epi32(differ), limit))
                << at;
    }
    return near;
}

#elif defined(NEARDUP_USE_AVX2)

static std::uint32_t near_tags(const std::uint32_t* tags, std::uint32_t tag, std::uint32_t exact,
                               std::uint32_t most) {
    const __m256i same = _mm256_set1_epi32(static_cast<int>(tag));
    const __m256i exactly = _mm256_set1_epi32(static_cast<int>(exact));
    const __m256i limit = _mm256_set1_epi32(static_cast<int>(most) + 1);
    const __m256i ones8 = _mm256_set1_epi8(1), ones16 = _mm256_set1_epi16(1);
    std::uint32_t near = 0;
    for (unsigned at = 0; at < kTagsAtOnce; at += 8) {
        const __m256i differ = _mm256_xor_si256(same, load(tags + at));
        const __m256i counts =
            _mm256_madd_epi16(_mm256_maddubs_epi16(byte_counts(differ), ones8), ones16);
        const __m256i equal =
            _mm256_cmpeq_epi32(_mm256_and_si256(differ, exactly), _mm256_setzero_si256());
        const __m256i both = _mm256_and_si256(equal, _mm256_cmpgt_epi32(limit, counts));
        near |= static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(both))) << at;
    }
    return near;
}

#elif defined(NEARDUP_USE_NEON)

static std::uint32_t near_tags(const std::uint32_t* tags, std::uint32_t tag, std::uint32_t exact,
                               std::uint32_t most) {
    const uint32x4_t same = vdupq_n_u32(tag), exactly = vdupq_n_u32(exact);
    const uint32x4_t limit = vdupq_n_u32(most);
    const auto near = [&](const std::uint32_t* four) {
        const uint32x4_t differ = veorq_u32(same, vld1q_u32(four));
        const uint32x4_t few = vcleq_u32(half_counts(vreinterpretq_u8_u32(differ)), limit);
        return vmovn_u32(vbicq_u32(few, vtstq_u32(differ, exactly)));
    };
    const auto near_eight = [&](const std::uint32_t* eight) {
        return vmovn_u16(vcombine_u16(near(eight), near(eight + 4)));
    };
    std::uint32_t all = 0;
    for (unsigned at = 0; at < kTagsAtOnce; at += 16) {
        const uint8x16_t some = vcombine_u8(near_eight(tags + at), near_eight(tags + at + 8));
        all |= static_cast<std::uint32_t>(high_bits(reinterpret_cast<Bytes>(some))) << at;
    }
    return all;
}

#else

static std::uint32_t near_tags(const std::uint32_t* tags, std::uint32_t tag, std::uint32_t exact,
                               std::uint32_t most) {
    std::uint32_t far[kTagsAtOnce], near = 0;
    for (unsigned i = 0; i < kTagsAtOnce; ++i) {
        const std::uint32_t differ = tag ^ tags[i];
        far[i] = half_count(differ) > most || (differ & exact) != 0 ? 1 : 0;
    }
    for (unsigned i = 0; i < kTagsAtOnce; ++i) near |= (far[i] ^ 1) << i;
    return near;
}

#endif

static std::uint32_t distance(const std::uint64_t* x, const std::uint64_t* y, std::size_t limbs) {
    return distance_of(x, y, limbs);
}

const TableKernels table_kernels = {near_tags, distance};

}  // namespace neardup::NEARDUP_ISA
