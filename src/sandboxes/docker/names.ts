/** The labels of svc's containers and networks. */
export const LABEL = {
  /** The id of the installation that owns it. */
  installation: "svc.installation",
  session: "svc.session",
  generation: "svc.generation",
  /** `sandbox`, `fence` (the network namespace), `service`, or `scratch` for temporary containers. */
  role: "svc.role",
  /** The id of the volume that a sandbox has, or that a volume is. */
  volume: "svc.volume",
  /** Unique per start, so that a start that fails removes only its own. */
  start: "svc.start",
  /** The `address:port` of the sandbox's API listener, if it has one. */
  api: "svc.door",
  /** The same of its egress proxy. */
  proxy: "svc.proxy",
  /** Of an image: `default`, `project` or `sandbox`. */
  image: "svc.image",
} as const;

export type Labels = Readonly<Record<string, string>>;

/** The names of a session's containers and network. The engine keeps them unique. */
export function namesOf(
  installation: string,
  sessionId: string,
): { sandbox: string; netns: string; network: string } {
  const name = `svc-${installation}-${sessionId}`;
  return { sandbox: name, netns: `${name}-fence`, network: name };
}

/** The name of a volume. */
export function volumeName(installation: string, id: string): string {
  return `svc-${installation}-volume-${id}`;
}

/** A filter of the Engine API for all of these labels. */
export function withLabels(labels: Labels): { label: string[] } {
  return { label: Object.entries(labels).map(([name, value]) => `${name}=${value}`) };
}
