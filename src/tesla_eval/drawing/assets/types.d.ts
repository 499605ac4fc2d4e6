// The data of a report, as docs/report.md describes it.
interface Token {
  surface: string;
  start: number;
  end: number;
  lemma?: string;
  pos?: string;
  function?: boolean;
  senses?: number[];
}
interface FlowLink {
  reference: any;
  hypothesis: any;
  similarity: number;
  weight: number;
}
interface Feature {
  name: string;
  similarity?: string;
  n?: number;
  gap?: number;
  pivot?: string;
  precision?: number;
  recall?: number;
  f?: number;
  value?: number;
  objective?: number;
  reference_weight?: number;
  hypothesis_weight?: number;
  flow?: FlowLink[];
  words?: { word: string; log_probability: number }[];
  pivots?: Feature[];
  segments?: Record<string, PivotPhrase[]>;
}
interface PivotPhrase {
  phrase: string;
  translations: { text: string; probability: number; carried: number }[];
}
interface Share {
  name: string;
  group: string;
  value: number | null;
  weight: number;
  share: number;
}
interface Detail {
  score: number;
  reference?: Token[];
  hypothesis?: Token[];
  features: Feature[];
  linear?: number;
  shares?: Share[];
  partners?: [[number, number], [number, number], boolean][];
  covering?: { links: number[]; covered: Record<string, [number, number]> };
  sentences?: string[];
  coherence?: Detail;
  matrix?: Record<string, string[][]>;
  support?: Support[];
  text?: string;
}
interface Support {
  score: number;
  sentence: string;
  start: number;
  source: { text: string };
  unsupported: { start: number; end: number }[];
  unknown: { surface: string }[];
  contradictions: { kind: string; hypothesis: string; reference: string }[];
}
interface Explanation {
  metric: string;
  signature: string;
  score: number;
  references: Detail[];
}
interface Metric {
  name: string;
  signature: string;
  higher_is_better: boolean;
  digits: number;
  explained: boolean;
  scores: number[];
  segments: number[][];
  comparison: any;
  feature_names: string[];
  feature_means: (number | null)[][];
}
interface Finding {
  text: string;
  cost: number;
  count: number;
  segments: number[];
}
interface SystemFindings {
  names: Finding[];
  numbers: Finding[];
  untranslated: Finding[];
  dropped: Finding[];
  inserted: Finding[];
  repeated: Finding[];
  lost: Finding[];
  added: Finding[];
  synonyms: Finding[];
  totals: Record<string, { count: number; segments: number }>;
  lengths: { segments: number; reference: number; hypothesis: number }[];
}
interface Shown {
  metric: number;
  first: number;
  second: number;
  views: (() => void)[];
  choose(chosen: { metric?: number; first?: number; second?: number }): void;
}
interface Core {
  names: string[];
  metrics: Metric[];
  texts: {
    names: string[] | null;
    sources: string[] | null;
    references: (string | null)[][];
    hypotheses: string[][];
    groups: Record<string, string[]>;
  };
  lengths: number[];
  length_bins: number[];
  word_classes: string[];
  classes: string[];
  support: (Support & { segment: number })[][];
  lost_classes: number[][];
  findings: SystemFindings[];
  feature_titles: Record<string, string>;
  matching: { blocks: Record<string, number>; segments: number; of: number };
}
interface Tie {
  reference: [number, number];
  hypothesis: [number, number];
  kind: string;
  similarity: number;
  weight: number;
}
interface Word {
  text: string;
  tag: string;
  function: boolean;
  seam: number;
}
interface Picture {
  reference: Word[];
  hypothesis: Word[];
  ties: Tie[];
  tagged: boolean;
  skips: boolean;
  joined: boolean;
}
interface Uint8ArrayConstructor {
  fromBase64?(text: string): Uint8Array<ArrayBuffer>;
}
