/** The result of an attempt to send. `gone`: the browser no longer takes messages. `failed`: no attempt would succeed. */
export type Outcome =
  | { kind: "sent" }
  | { kind: "gone" }
  | { kind: "later" | "failed"; error: string; afterS: number };
