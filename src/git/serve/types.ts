export type Service = "git-upload-pack" | "git-receive-pack";

/** The version of git's protocol that a client asks for; null is the oldest, which all clients speak. */
export type Protocol = "version=2" | "version=1" | null;

export interface AdvertiseRequest {
  service: Service;
  protocol: Protocol;
  /** The branch that a clone checks out. */
  head: string;
  /** One of svc's own refs, which this pusher is told of beside branches and tags. */
  own?: string;
}

/** The body of an answer, and when the work behind it is over. */
export interface Transfer {
  answer: ReadableStream<Uint8Array>;
  ended: Promise<unknown>;
}

/** Begins a transfer when its caller may have one more: a caller has a share of all transfers. */
export type Share = (begin: () => Promise<Transfer>) => Promise<Transfer>;

export interface UploadRequest {
  protocol: Protocol;
  body: ReadableStream<Uint8Array>;
  /** Ends when the client has gone. */
  signal: AbortSignal;
  /** Asked when the client has said what it wants: one that is silent takes nobody's slot. */
  share: Share;
}

export interface ReceiveRequest {
  body: ReadableStream<Uint8Array>;
  judge: PushJudge;
  /** Asked when the commands are in: a push that is silent takes nobody's slot. */
  share: Share;
  /** Told of the refs that have changed, before the client is. */
  changed?(refs: readonly { ref: string; kind: "created" | "changed" | "deleted" }[]): Promise<void>;
  /**
   * One of svc's own refs, which this push is about: it changes here, and what is on a git host gets it afterwards, if
   * the host takes such refs. `changed` is waited for before the client is told.
   */
  own?: { ref: string; changed(commit: string | null): Promise<void> };
}

/** What a push does to a ref. A `rewrite` takes commits away; for a tag, any move is one. */
export type UpdateKind = "create" | "fast-forward" | "rewrite" | "delete";

/** Whether a push may change a ref. Null: it may. Else why not, in a few words, and a sentence that says what to do. */
export type PushJudge = (update: {
  ref: string;
  kind: UpdateKind;
}) => Promise<{ reason: string; advice: string } | null>;
