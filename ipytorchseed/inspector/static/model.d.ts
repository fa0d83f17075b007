// Messages between the kernel and the inspector's view, for the type checker: no browser reads
// this. The kernel's side is ipytorchseed/render/inspection.py and ipytorchseed/inspector/messages.py.

/** A state: its short code, its hue in degrees, its full digest. */
export type Chip = [code: string, hue: number, digest: string] | null;

/** The effect of a run on a source. `to` is null if the source did not move. */
export interface Field {
  from: Chip;
  to: Chip;
  other: boolean;
  between: boolean;
}

/** A run. Sources that it left alone have no field. */
export interface Row {
  id: number;
  name: string;
  cell: string;
  kin: number;
  rail: number;
  at: string;
  took: string;
  status: string;
  value: string;
  fields: Record<string, Field>;
  aside?: boolean;
  outcome?: [same: boolean, text: string, words: string];
}

/** A run with its place in the timeline; null if the ledger no longer has it. */
export type Placed = [place: number, row: Row | null];

/** The current state of a source or generator. */
export interface Standing {
  name: string;
  type: string;
  chip: Chip;
  where: string;
  by: string;
}

export interface Setting {
  mark: string;
  name: string;
  value: string;
  wanted: string;
  change: string;
  why: string;
  ok: boolean;
}

export interface Settings {
  ok: boolean;
  brief: string;
  right: string;
  risks: [risk: string, how: string, command: string][];
  groups: { title: string; rows: Setting[] }[];
}

export interface Now {
  now: Standing[];
  columns: string[];
  total: number;
  rule: string;
  seed: number | null;
  saves: string[];
  running: boolean;
  settings: Settings;
}

/** The content without a shell: no runs, and nothing to change. */
export interface Alone {
  now: Standing[];
  settings: Settings;
  alerts: [alert: string, instead: string][];
  rule: string;
}

export interface Curves {
  name: string;
  box: [width: number, height: number];
  paths: string[];
}

export interface Root {
  message: string;
  path: string;
}

export interface Cause {
  kind: string;
  name: string;
  page: string;
  message: string;
  proof: string;
  finding: string;
  chips: Chip[];
}

export interface Why {
  run: number;
  against: number | null;
  names: [against: string, run: string];
  title: string;
  answer: (Root | Cause)[];
  keep: string[];
  reason: string;
  back: string;
  mend: string[];
  next: string;
  changed: [name: string, detail: string][];
  more: number;
  curves: Curves[];
  cleared: [name: string, message: string][];
  /** Whether experiments may prove a cause. */
  prove: boolean;
  /** Variables that one can ask about. */
  asks: string[];
  /** The variable that was asked about. */
  name?: string;
}

export interface Ran {
  place: number;
  row: Row;
  columns: string[];
  words: string;
}

export interface Wish {
  what: string;
  [option: string]: unknown;
}

export interface Done {
  ok: boolean;
  text: string;
  undo?: Wish | null;
  /** Whether the answer has changed. */
  refresh?: boolean;
}

/** A message of the kernel; `view` is the token of the view that asked, if one did. */
export type Said = { view?: string | null } & (
  | ({ say: "all"; rows: Placed[] } & Now)
  | ({ say: "now" } & Now)
  | ({ say: "run" } & Ran)
  | { say: "moved" }
  | { say: "rows"; rows: Placed[]; columns: string[] }
  | { say: "found"; round: number; places: number[]; low: number }
  | ({ say: "why" } & Why)
  | ({ say: "done" } & Done)
  | { say: "cell"; numbers: number[]; text: string }
  | { say: "ready" }
  | { say: "confirm"; question: string; wish: Wish }
  | { say: "gone"; text: string }
  | { say: "back" }
  | ({ say: "alone" } & Alone)
);

/** The interface of anywidget. */
export interface Model {
  get(name: "told"): Alone | undefined;
  send(content: unknown): void;
  on(event: string, callback: (content: any) => void): void;
  off(event: string, callback: (content: any) => void): void;
}

export type Props = Record<string, any>;

export type Child = Node | string | 0 | false | null | undefined;
