import type { V1NetworkPolicy, V1ObjectMeta, V1Pod, V1Secret, V1Service } from "@kubernetes/client-node";
import { DAEMON_PORT } from "../../contract/daemon.ts";
import type { EgressMode } from "../../contract/egress/policy.ts";
import { CLOSED_IPV4 } from "../closed-addresses.ts";
import type { SandboxLimits } from "../provider.ts";

/** The labels of objects. */
export const LABELS = {
  installation: "svc/installation",
  session: "svc/session",
  project: "svc/project",
  generation: "svc/generation",
} as const;

/** The label of the API server's pods: only they reach daemons, and sandboxes may reach them. */
const API_PODS = { "app.kubernetes.io/name": "svc-api" };

/** The user that the agent runs as; the daemon is root in its container, so that the agent cannot inspect it. */
const RUNTIME_USER = "1000:1000";
/** The daemon needs them to run the agent as another user, to end its processes, and to remove its files. */
const CAPABILITIES = ["SETUID", "SETGID", "KILL", "CHOWN", "DAC_OVERRIDE", "FOWNER"];
/** In processors: small, since sandboxes are idle most of the time. */
const CPU_REQUEST = 0.1;

export interface ObjectsSpec {
  installation: string;
  sessionId: string;
  projectId: string;
  generation: number;
  image: string;
  environment: Readonly<Record<string, string>>;
  limits: SandboxLimits;
  egress: EgressMode;
  /** Null: the cluster's default. */
  runtimeClass: string | null;
  /** Names that the pod resolves without a name server. */
  aliases: readonly { ip: string; hostnames: string[] }[];
}

/** The name of all four objects of a sandbox: a DNS label of at most 63 characters. */
export function nameOf(installation: string, sessionId: string): string {
  return `svc-${installation}-${sessionId.replaceAll("-", "")}`;
}

export function metadataOf(
  spec: Pick<ObjectsSpec, "installation" | "sessionId" | "projectId" | "generation">,
): V1ObjectMeta {
  return {
    name: nameOf(spec.installation, spec.sessionId),
    labels: {
      "app.kubernetes.io/managed-by": "svc",
      [LABELS.installation]: spec.installation,
      [LABELS.session]: spec.sessionId,
      [LABELS.project]: spec.projectId,
      [LABELS.generation]: String(spec.generation),
    },
  };
}

/**
 * Ingress only from the API server to the daemon; egress only to DNS, the API server and the internet by IPv4, or, if the
 * sandbox is not open, only to the API server: DNS would be a way out.
 */
export function policyOf(spec: ObjectsSpec): V1NetworkPolicy {
  const metadata = metadataOf(spec);
  const everywhere = { namespaceSelector: {} };
  const apiPods = { ...everywhere, podSelector: { matchLabels: API_PODS } };
  return {
    metadata,
    spec: {
      podSelector: { matchLabels: selectorOf(spec) },
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ _from: [apiPods], ports: [{ protocol: "TCP", port: DAEMON_PORT }] }],
      egress:
        spec.egress === "open"
          ? [
              { to: [everywhere], ports: ["UDP", "TCP"].map((protocol) => ({ protocol, port: 53 })) },
              { to: [apiPods] },
              { to: [{ ipBlock: { cidr: "0.0.0.0/0", except: [...CLOSED_IPV4] } }] },
            ]
          : [{ to: [apiPods] }],
    },
  };
}

/** The environment is in a secret, since all users with access to pods can read a pod's specification. */
export function secretOf(spec: ObjectsSpec): V1Secret {
  const encoded = Object.entries(spec.environment).map(([name, value]) => [
    name,
    Buffer.from(value).toString("base64"),
  ]);
  return {
    metadata: metadataOf(spec),
    type: "Opaque",
    immutable: true,
    data: Object.fromEntries(encoded),
  };
}

export function serviceOf(spec: ObjectsSpec): V1Service {
  const port = { name: "daemon", protocol: "TCP", port: DAEMON_PORT, targetPort: DAEMON_PORT };
  return { metadata: metadataOf(spec), spec: { selector: selectorOf(spec), ports: [port] } };
}

export function podOf(spec: ObjectsSpec): V1Pod {
  const { cpus, memoryBytes, diskBytes } = spec.limits;
  const metadata = metadataOf(spec);
  return {
    metadata,
    spec: {
      restartPolicy: "Never",
      ...(spec.runtimeClass !== null && { runtimeClassName: spec.runtimeClass }),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(spec.aliases.length > 0 && { hostAliases: [...spec.aliases] }),
      securityContext: { seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "sandbox",
          image: spec.image,
          imagePullPolicy: "IfNotPresent",
          ports: [{ name: "daemon", containerPort: DAEMON_PORT }],
          env: [{ name: "SVC_RUNTIME_USER", value: RUNTIME_USER }],
          envFrom: [{ secretRef: { name: nameOf(spec.installation, spec.sessionId) } }],
          resources: {
            limits: {
              cpu: String(cpus),
              memory: String(memoryBytes),
              "ephemeral-storage": String(diskBytes),
            },
            requests: { cpu: String(Math.min(cpus, CPU_REQUEST)), memory: String(memoryBytes) },
          },
          securityContext: {
            runAsUser: 0,
            privileged: false,
            allowPrivilegeEscalation: false,
            capabilities: { drop: ["ALL"], add: CAPABILITIES },
          },
        },
      ],
    },
  };
}

function selectorOf({ installation, sessionId }: ObjectsSpec): Record<string, string> {
  return { [LABELS.installation]: installation, [LABELS.session]: sessionId };
}
