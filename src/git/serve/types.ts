export type Service = "git-upload-pack" | "git-receive-pack";

/** The version of git's protocol that a client requests; null is the oldest, which all clients support. */
export type Protocol = "version=2" | "version=1" | null;

export interface AdvertiseRequest {
  service: Service;
  protocol: Protocol;
  /** The branch that a clone checks out. */
  head: string;
  /** One of svc's own refs, which is listed for this pusher beside branches and tags. */
  own?: string;
}

/** The body of an answer; `ended` settles when the work behind it is over. */
export interface Transfer {
  answer: ReadableStream<Uint8Array>;
  ended: Promise<unknown>;
}

/** Begins a transfer when the caller has a slot: each caller has a share of all transfers. */
export type Share = (begin: () => Promise<Transfer>) => Promise<Transfer>;

export interface UploadRequest {
  protocol: Protocol;
  body: ReadableStream<Uint8Array>;
  /** Aborted when the client has disconnected. */
  signal: AbortSignal;
  /** Called once the request was read, so that a silent client takes no slot. */
  share: Share;
}

/** A ref that a push has changed, and its commit or tag now; null: deleted. */
export interface ChangedRef {
  ref: string;
  kind: "created" | "changed" | "deleted";
  from: string | null;
  to: string | null;
}

export interface ReceiveRequest {
  body: ReadableStream<Uint8Array>;
  judge: PushJudge;
  /** Called once the commands were read, so that a silent push takes no slot. */
  share: Share;
  /** Called with the changed refs, before they are reported to the client. */
  changed?(refs: readonly ChangedRef[]): Promise<void>;
  /**
   * The one of svc's own refs that this push updates: it changes here, and is pushed to the git host afterwards, if the
   * host accepts such refs. `changed` is awaited before the client gets the report.
   */
  own?: { ref: string; changed(commit: string | null): Promise<void> };
}

/** What a push does to a ref. A `rewrite` removes commits; for a tag, any move is one. */
export type UpdateKind = "create" | "fast-forward" | "rewrite" | "delete";

/** Decides whether a push may change a ref: null allows it; else a short reason, and a sentence that says what to do. */
export type PushJudge = (update: {
  ref: string;
  kind: UpdateKind;
}) => Promise<{ reason: string; advice: string } | null>;
