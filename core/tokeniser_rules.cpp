#include "tokeniser_rules.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "unicode.h"

namespace tesla {
namespace {

constexpr std::string_view kInternetEndings =
    "com net org edu gov mil int info biz uk us ca au nz ie de fr es it nl be ch at eu ru ua pl cz sk hu ro bg gr tr "
    "se no dk fi is jp cn kr in br mx ar tv io co me ly asp aspx avi bmp csv doc docx exe gif htm html jpeg jpg js "
    "json jsp mov mp mp3 mp4 mpg pdf php png pps ppt pptx ps rar rtf tar tiff txt url wav wmv xls xlsx xml zip";

constexpr std::string_view kEmoticons =
    ":) :( :-) :-( ;) ;-) ;( :d :-d ;d :p :-p ;p ;-p :o :-o :/ :-/ :\\ :-\\ :| :-| :* :-* :'( :'-( :s :] :[ =) =( =d =p =/ "
    "=] (: (-: (; ): )-: >:( >:) <3 </3 ^^ ^_^ -_- o_o o.o t_t xd x-d 8) 8-) d: :3 :> :< ;> :)) :(( ;)) :-)) =)) :}";

constexpr LanguageTable kLanguages[] = {
    {"und", Hyphens::Keep, "", "", "", "", "", "", "", ""},
    {"en", Hyphens::Split,
     // titles, months, days, companies, places, Latin, measures
     "mr mrs ms dr prof rev hon gen col lt sgt capt cpt cmdr maj adm gov sen rep pres st jr sr messrs mmes "
     "jan feb mar apr jun jul aug sept sep oct nov dec mon tue tues wed thu thur thurs fri sat sun "
     "inc corp co ltd bros llc plc dept univ assn dist est natl intl govt mfg ave blvd rd hwy ft mt pl sq "
     "ala ariz ark calif colo conn del fla ga ill ind kan ky la md mass mich minn miss mo mont neb nev okla ore pa "
     "penn tenn tex va vt wash wis wyo etc vs viz cf al et esp eg ie ibid approx no nos vol vols ed eds pp fig figs sec "
     "ch para ref refs ext tel fax mob attn conf info encl ps oz lb lbs yrs yr hrs hr mins min ca e.g i.e a.m p.m",
     "can|not gon|na wan|na got|ta got|cha gim|me lem|me d'|ye more|'n 't|is 't|was out|ta wan|a "
     "do|nt did|nt does|nt ca|nt wo|nt is|nt was|nt were|nt are|nt ai|nt have|nt has|nt had|nt could|nt would|nt "
     "should|nt must|nt i|m i|ve you|ve we|ve they|ve you|re they|re that|s there|s what|s here|s it|ll he|s she|s that|d that|ll "
     "you|ll they|ll else|s who|s",
     "'s 'm 'd 'll 're 've n't",
     "'em 'til 'till 'cause 'n 'tis 'twas 'bout 'round 'nuff 'cuz 's 'm 'd 'll 're 've",
     "a ab ad after anti arch ante auto be bi bio co counter cross crypto cyber de dis e eco electro ex extra hyper il "
     "inter intra macro mega meta micro mid mini mis mono multi neo non over pan para peri poly post pre pro "
     "proto pseudo psycho quasi re semi sub super supra trans tri u ultra un uni vice",
     "able esque ette fest fold ish itis less most rama wise",
     "m k b f c s h x p g l am pm a.m p.m bn mn mm cm km kg mg ml ft hz khz mhz ghz kb mb gb tb kw mw kwh mwh mph kph lb lbs oz "
     "sq hr hrs min mins sec secs yr yrs hh in px days percent watt",
     "st nd rd th s 's d"},
};


// Hashes lower-cased code points; never 0, which marks a free slot.
template <class Character>
std::uint64_t hash_word(const Character* word, std::size_t length) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (std::size_t i = 0; i < length; ++i) {
        char32_t c = static_cast<char32_t>(word[i]);
        c = c == U'’' || c == U'`' ? U'\'' : to_lower(c);
        hash = (hash ^ c) * 0x100000001b3u;
    }
    return (hash ^ hash >> 32) | 1;
}

}  // namespace

WordTable::WordTable(std::string_view words) {
    std::vector<Slot> entries;
    std::u32string word;
    while (!words.empty()) {
        std::size_t stop = std::min(words.find(' '), words.size());
        decode_utf8(words.substr(0, stop), word);
        words.remove_prefix(std::min(stop + 1, words.size()));
        if (word.empty()) continue;
        std::size_t cut = word.size() > 2 ? word.find(U'|') : word.npos;  // ":|" is an emoticon
        if (cut != word.npos) word.erase(cut, 1);
        entries.push_back({hash_word(word.data(), word.size()), cut == word.npos ? 0 : static_cast<int>(cut)});
        longest_ = std::max(longest_, word.size());
    }
    std::size_t capacity = 1;
    while (capacity < 3 * entries.size()) capacity *= 2;
    slots_.assign(capacity, Slot{0, 0});
    for (const Slot& entry : entries) {
        std::size_t at = entry.hash & (capacity - 1);
        while (slots_[at].hash != 0 && slots_[at].hash != entry.hash) at = (at + 1) & (capacity - 1);
        slots_[at] = entry;
    }
}

int WordTable::find(const char32_t* word, std::size_t length) const {
    if (length == 0 || length > longest_) return -1;
    std::uint64_t hash = hash_word(word, length);
    for (std::size_t at = hash & (slots_.size() - 1); slots_[at].hash != 0; at = (at + 1) & (slots_.size() - 1)) {
        if (slots_[at].hash == hash) return slots_[at].number;
    }
    return -1;
}

TokeniserRules::TokeniserRules(const LanguageTable& table)
    : hyphens(table.hyphens),
      abbreviations(table.abbreviations),
      cut_words(table.cut_words),
      clitic_tails(table.clitic_tails),
      apostrophe_words(table.apostrophe_words),
      kept_prefixes(table.kept_prefixes),
      kept_suffixes(table.kept_suffixes),
      units(table.units),
      number_endings(table.number_endings),
      internet_endings(kInternetEndings),
      emoticons(kEmoticons) {}

const LanguageTable* find_language_table(std::string_view language) {
    const auto* found = std::find_if(std::begin(kLanguages), std::end(kLanguages),
                                     [&](const LanguageTable& table) { return table.language == language; });
    return found == std::end(kLanguages) ? nullptr : found;
}

std::vector<std::string_view> table_languages() {
    std::vector<std::string_view> names;
    for (const LanguageTable& table : kLanguages) names.push_back(table.language);
    return names;
}

}  // namespace tesla
