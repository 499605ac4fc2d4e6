// The tables of tokeniser_rules.h, a language each. Chosen on the training and development parts of the treebanks.
#pragma once

#include <string_view>
#include <utility>

namespace tesla {

// Read before the table of every language.
inline constexpr std::string_view kCommonTable = R"(
internet com net org edu gov mil int info biz uk us ca au nz ie de fr es it nl be ch at eu ru ua pl cz sk hu ro bg gr
internet tr se no dk fi is jp cn kr in br mx ar tv io co me ly
internet asp aspx avi bmp csv doc docx exe gif htm html jpeg jpg js json jsp mov mp3 mp4 mpg pdf php png pps ppt pptx
internet ps rar rtf tar tiff txt url wav wmv xls xlsx xml zip
emoticons :) :( :-) :-( ;) ;-) ;( :d :-d ;d :p :-p ;p ;-p :o :-o :/ :-/ :\ :-\ :| :-| :* :-* :'( :'-( :s :] :[ =) =(
emoticons =d =p =/ =] (: (-: ): )-: >:( >:) <3 </3 ^^ ^_^ -_- o_o o.o t_t xd x-d 8) 8-) d: :3 :> :< ;> :}
)";

inline constexpr std::pair<std::string_view, std::string_view> kLanguageTables[] = {
    {"af", R"(
style open-hyphens leading-hyphens
abbreviations bv dr mnr mev mej prof ds adv st nr no bl par art asb ens o.a d.w.s m.a.w i.p.v n.a.v jr sr ong
apostrophes 'n 't 's 'k 'm
)"},
    {"ar", R"(
style split-hyphens segment-words
)"},
    {"be", R"(
style keep-final-stop
abbreviations рэж інш тыс пр-т ст гг руб пр дз вул млн млрд гл нар зав стар праф ім р-н вобл
)"},
    {"ca", R"(
style keep-ranges
abbreviations dr dra sr sra srta pta ptes núm pàg av etc vol art cap ed st sta tel aprox dept
heads l' d' s' m' n' t' qu'
tails 'l 'ls 'n 's 't 'm 'ns -se -lo -los -la -les -li -me -te -ne -hi -ho -nos -vos -ns -n'hi
apostrophes 'l 'ls 'n 's 't 'm 'ns
inner ·
)"},
    {"cs", R"(
style split-hyphens
)"},
    {"cy", R"(
style final-apostrophes keep-ranges
abbreviations dr mr mrs st e.e h.y
tails 'r 'n 'i 'w 'u 'm 'ch 'th
apostrophes 'r 'n 'i 'w 'u 'm 'ch 'th 'na 'di 'ma 'dw 'da 'ny 'to 'se 'sa 'ta 'mod 'nôl
)"},
    {"da", R"(
style ordinals keep-ranges open-hyphens
abbreviations kr f.eks pct bl.a pr ca mill kg fig mia kvm kgl stk kl bl nr inc hhv mio cm kons m.fl spsk mr km kgs dr
abbreviations jf red chr tsk pga prof mht vedr inkl ekskl evt osv tlf st sml fx ff m.m m.v d.v.s o.l cand
abbreviations jan febr apr aug sept okt nov dec f.kr e.kr
whole a/s km/t i/s
)"},
    {"de", R"(
style split-hyphens keep-ranges ordinals
abbreviations st bzw dr chr etc ca art ggf engl nr vs sr jap mrd vgl abs co mio prof hl jh jhd bd evtl inkl zzgl usw
abbreviations bspw sog str tel ing dipl med phil jur nat rer geb gest verh ehem franz lat griech ital span russ amerik
abbreviations jan feb febr mär apr jun jul aug sep sept okt nov dez mo di mi do fr sa so fa frl hrsg aufl kap anm abb
abbreviations lt max min mind exkl allg bes gem insb kfm techn z.b u.a d.h z.t i.d.r v.chr n.chr u.s.w o.ä s.o u.u
apostrophes 's 'n 'ne 'nen 'ner 'nem 'ran 'rum 'rein 'raus 'rauf
)"},
    {"el", R"(
style split-hyphens
abbreviations κος δρ κλπ π.χ δηλ αρ σελ βλ κ.λπ κ.ά μ.χ π.μ μ.μ δισ εκ χλμ
heads σ' ν' μ' τ' γι' απ' τίποτ' καθ' παρ' δώσ' θ' εφ' αντ' επ' κατ' μετ' υπ' αφ' ανθ' δι' στ' φέρ' πάρ'
whole ό,τι
)"},
    {"en", R"(
style split-hyphens
abbreviations mr mrs ms dr prof rev hon gen col lt sgt capt cpt cmdr maj adm gov sen rep pres st jr sr messrs mmes
abbreviations jan feb mar apr jun jul aug sept sep oct nov dec mon tue tues wed thu thur thurs fri sat sun
abbreviations inc corp co ltd bros llc plc dept univ assn dist est natl intl govt mfg ave blvd rd hwy ft mt pl sq
abbreviations ala ariz ark calif colo conn del fla ga ill ind kan ky la md mass mich minn miss mo mont neb nev okla
abbreviations ore pa penn tenn tex va vt wash wis wyo etc vs viz cf al et esp eg ie ibid approx no nos vol vols ed eds
abbreviations pp fig figs sec ch para ref refs ext tel fax mob attn conf info encl ps oz lb lbs yrs yr hrs hr mins min
abbreviations ca e.g i.e a.m p.m ph.d
cut can|not gon|na wan|na got|ta got|cha gim|me lem|me d'|ye more|'n 't|is 't|was out|ta wan|a do|nt did|nt does|nt
cut ca|nt wo|nt is|nt was|nt were|nt are|nt ai|nt have|nt has|nt had|nt could|nt would|nt should|nt must|nt i|m i|ve
cut you|ve we|ve they|ve you|re they|re that|s there|s what|s here|s it|ll he|s she|s that|d that|ll you|ll they|ll
cut else|s who|s
tails 's 'm 'd 'll 're 've n't
apostrophes 'em 'til 'till 'cause 'n 'tis 'twas 'bout 'round 'nuff 'cuz 's 'm 'd 'll 're 've
prefixes a ab ad after anti arch ante auto be bi bio co counter cross crypto cyber de dis e eco electro ex extra hyper
prefixes il inter intra macro mega meta micro mid mini mis mono multi neo non over pan para peri poly post pre pro
prefixes proto pseudo psycho quasi re semi sub super supra trans tri u ultra un uni vice
suffixes able esque ette fest fold ish itis less most rama wise
units m k b f c s h x p g l am pm a.m p.m bn mn mm cm km kg mg ml ft hz khz mhz ghz kb mb gb tb kw mw kwh mwh mph kph
units lb lbs oz sq hr hrs min mins sec secs yr yrs hh in px days percent watt
endings st nd rd th s 's d
)"},
    {"es", R"(
style keep-ranges
abbreviations etc ee.uu dr dra st inc co fig sr sra srta dña ud uds vd vds prof ing lic gral cap sgto tte av avda
abbreviations núm pág págs vol art tel aprox máx mín ej jr ltd corp km cía ss.mm a.c d.c p.ej s.a
whole i+d km/h y/o
)"},
    {"fa", ""},
    {"fi", R"(
style ordinals open-hyphens leading-hyphens keep-ranges
abbreviations mm ekr jkr eaa jaa ns kok st jap ry esim ks mrd milj noin synt ym jne yms tms ts ao em huom kpl os
abbreviations puh prof toim tri vast vrt vs lat engl ruots saks klo
inner :
whole ja/tai km/h
)"},
    {"fr", R"(
style keep-ranges
abbreviations etc av cf dr mm vol no pp mr st mme mmes mlle mlles me mgr pr ste bd chap art fig éd env apr ap janv
abbreviations févr juil sept oct nov déc tél p.-s
heads c' d' j' l' m' n' s' t' ç' qu' jusqu' lorsqu' puisqu' quoiqu' presqu'
tails -je -tu -il -elle -on -nous -vous -ils -elles -ce -t-il -t-elle -t-on -t-ils -t-elles -t-en -moi -toi -lui
tails -leur -le -la -les -y -en
whole rendez-vous n° km/h et/ou
)"},
    {"ga", R"(
style keep-ranges
abbreviations dr uimh co srl lch lgh teo mr mrs st bl lth ltd r.ch i.e
heads b' d' m'
apostrophes 'na 'n 'un 's 'sé 'ur 'bhfuil 'chuile 'r
)"},
    {"gl", R"(
abbreviations sra sr etc ee.uu dr dra páx núm art prof st vol tel av
)"},
    {"he", R"(
style split-hyphens final-apostrophes keep-ranges
inner " ״ ׳
)"},
    {"hi", R"(
style split-hyphens keep-ranges
abbreviations डॉ श्री प्रो सं
)"},
    {"hr", R"(
style year-ordinals keep-ranges
abbreviations dr tzv prof tj sv ii sc st mr ing dipl god br str npr itd sl usp tis mil iii iv vi vii viii ix xi
abbreviations xii xiii xiv xv xvi xvii xviii xix xx xxi
)"},
    {"hy", R"(
style split-hyphens split-initials keep-ranges
attached ՛ ՜ ՞
)"},
    {"id", R"(
style split-initials split-runs keep-ranges
abbreviations ltd pte tn nn tbk llc ms mr mrs dr drs prof ir jl no co inc
currencies rp
)"},
    {"is", R"(
style ordinals open-hyphens
abbreviations hv hæstv þm gr kr þús frv umr nr mín kl st sek bls sbr skv m.a o.fl o.s.frv t.d a.m.k þ.e u.þ.b f.kr e.kr
abbreviations dr próf jan feb apr ág sept okt nóv des hf ehf millj
)"},
    {"it", R"(
style keep-ranges
abbreviations cit prof ecc dott sig sigg sigra ing avv on sen art pag pagg fig vol st dr dr.ssa prof.ssa cap ed tel es
heads l' dell' all' dall' nell' sull' coll' c' d' un' quest' quell' cos' com' dov' quand' sant' s' m' t' v' n' bell'
heads tutt' nessun' qualcun' ciascun' mezz' anch' senz' neanch' po' e' fa' va' da' di' sta' mo' be' to' ne' de' a' gl'
heads degl' agl' dagl' sugl' negl' qual' buon' grand' pover' null' nient' altr' quant' vent' trent' quarant' cinquant'
heads sessant' settant' ottant' novant' cent' diciott' ch' perch' puo' piu' perche' cosi' gia' citta' sara' pero' car'
whole km/h e/o
)"},
    {"ja", ""},
    {"ka", R"(
style keep-ranges
abbreviations ბერძნ ძვ ინგლ მაგ ლათ სხვ წწ იხ დაახლ ე.წ ა.შ ესპ ფრანგ გერმ რუს
inner –
)"},
    {"ko", R"(
style keep-ranges han-words
)"},
    {"lt", R"(
style split-initials keep-ranges
)"},
    {"lv", R"(
style year-ordinals
abbreviations lpp nr plkst sk att dec febr tel st u.tml u.c t.i utt piem prof dr janv apr aug sept okt nov milj tūkst
units km m cm mm kg g mg l ml ha h min s gb mb kw mw
whole a/s
)"},
    {"mt", R"(
style final-apostrophes split-initials open-hyphens split-runs
heads il- l- it- is- ir- in- id- iċ- ix- iz- iż- t- s- r- n- d- ċ- x- z- ż- tal- tat- tas- tar- tan- tad- taċ- tax-
heads taz- taż- tl- fil- fit- fis- fir- fin- fid- fiċ- fix- fiz- fiż- fl- bil- bit- bis- bir- bin- bid- biċ- bix- biz-
heads biż- bl- mill- mil- mit- mis- mir- min- mid- miċ- mix- miz- miż- minn- mal- mat- mas- mar- man- mad- max- maċ-
heads maż- għall- għal- għat- għas- għar- għan- għad- għaċ- għax- għaż- sal- sat- sas- sar- san- sad- sax- bħall- bħal-
heads bħat- bħas- bħar- bħan- bħad- bħax- lill- lil- lit- lis- lir- lin- lid- lix- dal- dat- das- dar- dan- dad- daċ-
heads dax- daż- dil- dit- dis- dir- din- did- ġol- ġot- ġos- ġor- ġon- ġod- l' f' b' m' t' x' s' j'
apostrophes 'l 'il 'i
)"},
    {"nl", R"(
style keep-ranges open-hyphens
abbreviations dr ca mr prof drs nr v.chr n.chr ir st enz zgn pct jl blz bijv etc kon nl bv mevr dhr ing jhr sr jr art
abbreviations jan feb febr apr aug sept okt nov dec tel afb vgl resp evt excl incl max min o.a d.w.z m.a.w b.v z.o.z
apostrophes 't 's 'n 'm 'k 'r
whole sp.a en/of km/u
)"},
    {"nn", R"(
style open-hyphens ordinals
abbreviations kap mill jf ca etc dvs st.meld nr kl pr jr mrd dr prof st str bl.a f.eks m.a o.l osv tlf inkl red kr mfl
whole a/s og/eller
)"},
    {"no", R"(
style open-hyphens ordinals
abbreviations fr.p bl.a st anm pr str ca kap mill jf etc dvs nr kl jr mrd dr prof f.eks m.m o.l osv tlf inkl red mfl
whole a/s og/eller
)"},
    {"pl", R"(
style split-runs split-initials
cut był|em była|m był|eś była|ś byli|śmy były|śmy byli|ście był|by była|by było|by byli|by były|by by|m by|śmy
cut miał|em miała|m miał|eś miała|ś mieli|śmy miał|by miała|by miało|by mogł|em mogła|m mógł|by mogła|by mogło|by
cut mogli|by mogli|śmy chciał|em chciała|m chcieli|śmy chciał|by chciała|by wiedział|em wiedziała|m widział|em
cut widziała|m musiał|em musiała|m musieli|śmy zrobił|em zrobiła|m powiedział|em powiedziała|m pomyślał|em
cut pomyślała|m myślał|em myślała|m został|em została|m zostali|śmy zaczął|em zaczęła|m poszedł|em poszła|m
cut przyszedł|em przyszła|m spotkał|em spotkała|m spotkali|śmy zobaczył|em zobaczyła|m dostał|em dostała|m
cut usłyszał|em usłyszała|m pojechał|em pojechali|śmy wziął|em wzięła|m znał|em znała|m dał|em dała|m
)"},
    {"pt", R"(
style keep-ranges
abbreviations etc dr dra art tel pág págs av sr sra srs jr ed dom sáb seg ter qua qui sex inc cia fund nº eng mr prof
abbreviations st sto sta gen cel cap min máx núm ltda lda vol
whole us$ r$ cr$ km/h e/ou s/a
)"},
    {"ro", R"(
style keep-ranges
abbreviations art lit nr alin al etc pct prep ex str dl d-l d-na d-ra dr prof ing sf st mil mld vol pag tel bd jud
abbreviations î.hr d.hr a.c ș.a
heads s- într- dintr- printr- și- n- de- i- l- le- mi- ți- m- v- ne- te- vi- c- d- p- f- ș- tot- pân- făr- prim-
tails -l -i -și -mi -ți -ul -o -le -ne -se -te -vă -mă -a -ar -au -am -n -un -m -s
)"},
    {"ru", R"(
style keep-ranges
abbreviations гг ил см ст пер тыс др англ гр кв род млн млрд фр гос пол вв шт руб изд ред чел ум проф акад им ул пр
abbreviations стр рис табл ок напр нем лат греч итал исп обл р-н т.е т.д т.п т.к т.н н.э
)"},
    {"sk", R"(
style split-initials
)"},
    {"sl", R"(
style year-ordinals split-hyphens split-runs
abbreviations dr npr oz št prof sv st itd ipd mag ing dipl str tj tel sl d.o.o i.e ii iii iv vi vii viii ix xi
abbreviations xii xiii xiv xv xvi xvii xviii xix xx xxi
)"},
    {"sr", R"(
style year-ordinals keep-ranges
abbreviations tzv dr prof mr sv st npr itd god br str тзв др проф мр св ст нпр итд год бр стр
)"},
    {"sv", R"(
style open-hyphens keep-ranges ordinals
abbreviations t.ex bl.a kap f.kr e.kr kl dvs sid resp doc m.fl st tr prof fig etc tel fr.o.m t.o.m proc milj dr mr nr
abbreviations ca s.k d.v.s o.s.v m.m p.g.a s.a.s inkl exkl jfr osv jan feb febr apr aug sept okt nov dec
inner :
whole och/eller km/h
)"},
    {"th", ""},
    {"tr", R"(
style split-hyphens
abbreviations dr prof doç av sn bkz vb vs no alb gen yy cad sok mah iii ii iv vi vii viii ix xi xii
)"},
    {"uk", R"(
style keep-ranges
abbreviations тис млн млрд грн рр ст див ред вид ім вул проф акад обл р-н т.д т.п т.зв н.е
)"},
    {"vi", R"(
style keep-ranges han-words
abbreviations tp ts gs pgs ths
)"},
    {"zh", R"(
endings 万 亿 千 百 万亿 千万 百万 多 余 几 多万 万多 万余 余万
)"},
    {"und", ""},
};

}  // namespace tesla
