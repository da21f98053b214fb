// The messages of protocol tiebreak.v1 and the state that a researcher's page
// watches. The Go types of the same names are in web/wire (messages to and from
// an annotator's page) and web/state.go (the rest); a test of package web holds
// the fields of both to one another. Each interface stands for one JSON object; the
// field t tells messages apart. Times are RFC 3339.

export type Side = "a" | "b" | "c" | "d" | "e" | "f";
export type Choice = "a" | "b" | "equal" | "cant_tell" | "skip" | "technical_failure" | "rated" | "best_worst";
export type Remark = "both_bad" | "both_good";
export type Input = "keyboard" | "mouse" | "touch" | "api";
export type Kind = "clip_comparison" | "clip_rating" | "state_comparison" | "state_rating" | "clip_group" | "clip_success";
export type Code = "invalid" | "not_found" | "conflict" | "forbidden" | "unavailable" | "internal" | "too_large" | "unknown";

// From an annotator's page.

export interface ClientHello {
  t: "hello";
  outbox: string[];
}

export interface Answer {
  t: "answer";
  id: string;
  assignment: string;
  choice: Choice;
  rating?: number;
  wrong_ms?: number;
  much?: boolean;
  remark?: Remark;
  best?: Side;
  worst?: Side;
  reason?: string;
  shown_left?: Side;
  shown_order?: string;
  shown_at: string;
  answered_ms: number;
  loops: number;
  hidden_ms: number;
  input: Input;
  instructions_version: number;
}

export interface Undo {
  t: "undo";
  id: string;
  of: string;
}

export interface Renew {
  t: "renew";
  assignment: string;
}

// To an annotator's page.

// One of the annotator's own last answers, in the list at /sessions/ID/answers.
export interface Given {
  id: string;
  clips: string[];
  left: Side | "";
  best?: Side;
  worst?: Side;
  choice: Choice;
  rating?: number;
  wrong_ms?: number;
  much?: boolean;
  remark?: Remark;
  told?: boolean;
}

// What /sessions/ID/telling returns.
export interface Telling {
  of: number;
  unexpected: number;
  answers: Given[];
}

export interface Hello {
  t: "hello";
  session: string;
  annotator: string;
  seq: number;
  kind: Kind;
  env: string;
  instructions_version: number;
  have: string[];
}

export interface Query {
  t: "query";
  assignment: string;
  query: string;
  kind: Kind;
  clips: string[];
  left: Side | "";
  order?: string;
  seen?: number[];
  before?: string;
  lease_until: string;
}

export interface Ack {
  t: "ack";
  id: string;
  seq: number;
  replay: boolean;
}

export interface Nak {
  t: "nak";
  id: string;
  code: Code;
  message: string;
  retry_ms: number;
}

export interface Status {
  t: "status";
  answers: number;
  mine: number;
  skipped: number;
  budget: number;
  open: string[];
  done: boolean;
  enough?: boolean;
  waiting: string;
  undo: string;
  to_go?: number;
  consent?: string;
  code?: string;
  return?: string;
  learnt: boolean;
  same: boolean;
  instructions_version: number;
  learning?: Learning;
}

// Answers of everybody that wait to be learnt from.
export interface Learning {
  answers: number;
  untrained?: boolean;
  running: boolean;
  waits?: boolean;
  done?: number;
  total?: number;
  left?: string;
  why?: string;
}

export interface Bye {
  t: "bye";
  retry_ms: number;
}

export type FromClient = ClientHello | Answer | Undo | Renew;
export type FromServer = Hello | Query | Ack | Nak | Status | Bye;

// The reply to POST /sessions/ID/key.
export interface Key {
  annotator: string;
  name: string;
  key: string;
}

// To a researcher's page.

export interface State {
  t: "state";
  seq: number;
  answers: number;
  skipped: number;
  state: string;
  joined: number;
  budget: number;
  based_on: number;
  training: Training;
  unlearnt: number;
  statement: Statement | null;
  regret: RegretPoint[];
  earlier: number;
  candidates: Candidate[];
  weights: Weight[];
  network: Network | null;
  open: Open[];
  recent: Asked[];
  annotators: Annotator[];
}

export interface Network {
  use: string;
  predictions: string;
  calibration: string;
}

export interface Training {
  running: boolean;
  based_on: number;
  done: number;
  total: number;
  what: string;
  left: string;
  err: string;
  cancel: boolean;
  fixed: string;
  cancelled: boolean;
}

export interface RegretPoint {
  seq: number;
  mean: number;
}

export interface Candidate {
  id: string;
  name: string;
  title: string;
  mean: number;
  std: number;
  clip: string;
  draws: number;
  episodes: number;
  spread: number;
}

export interface Weight {
  name: string;
  mean: number;
  std: number;
}

export interface Why {
  first: string;
  second: string;
  rivals: number;
  info: number;
  pair_std: number;
  purpose: string;
}

export interface Open {
  assignment: string;
  annotator: string;
  here: boolean;
}

export interface Asked extends Why {
  seq: number;
  annotator: string;
  choice: Choice;
  rating: number;
  undone: boolean;
  left_out: boolean;
  turned: boolean;
  response_ms: number;
  at: string;
  clips: string[];
}

export interface Annotator {
  id: string;
  name: string;
  left_out: boolean;
  turned: number;
  answers: number;
  decisive: number;
  equal: number;
  cant_tell: number;
  skipped: number;
  undone: number;
  marked: number;
  median_ms: number;
  left_share: number;
  left_low: number;
  left_high: number;
  predicted: number;
  predicted_n: number;
  reversed: boolean;
}

export interface Statement {
  seq: number;
  definition: number;
  best: string;
  led: string;
  p_within: number;
  tolerance: number;
  bound: number;
  mean: number;
  unbeaten: number;
  span: number;
  policies: number;
  against: string;
  return: string;
  headline: string;
  limit: string;
  expected: string;
  relative: string;
  stop: string;
  may_stop: boolean;
  objections: Objection[];
}

export interface Objection {
  code: string;
  words: string;
}

export interface Problem {
  reason: string;
  advice: string;
  minor: boolean;
}

export interface Problems {
  t: "problems";
  problems: Problem[];
}

/** A row of the table of conditions, in words, and the points of its curve. */
export interface Condition {
  name: string;
  share: string;
  questions: string;
  answers: string;
  accuracy: string;
  log_loss: string;
  even: string;
  lead: string;
}

export interface Conditions {
  t: "conditions";
  sum: string;
  empty: string;
  equal: string;
  rows: Condition[];
}

export type ToWatcher = State | Problems | Conditions | Bye;
