/** What containers and networks of svc's are labelled with. */
export const LABEL = {
  /** Whose it is: the installation's id. */
  installation: "svc.installation",
  session: "svc.session",
  generation: "svc.generation",
  /** `sandbox`, `fence`, or `scratch` for what lives only while something is prepared. */
  role: "svc.role",
  /** One start's own mark, so that a start that fails takes away what is its own and nothing else. */
  start: "svc.start",
  /** Where the API is let in for this sandbox, `address:port`, when svc listens there itself. */
  door: "svc.door",
  /** Of an image: `default`, `project` or `sandbox`. */
  image: "svc.image",
} as const;

export type Labels = Readonly<Record<string, string>>;

/** Names of what belongs to a session: the engine sees to it that each is there once. */
export function namesOf(
  installation: string,
  sessionId: string,
): { sandbox: string; fence: string; network: string } {
  const name = `svc-${installation}-${sessionId}`;
  return { sandbox: name, fence: `${name}-fence`, network: name };
}

/** A filter of the Engine API: all of these labels. */
export function withLabels(labels: Labels): { label: string[] } {
  return { label: Object.entries(labels).map(([name, value]) => `${name}=${value}`) };
}
