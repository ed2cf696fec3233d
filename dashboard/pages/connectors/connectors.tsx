import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Connector, ConnectorConsent } from "../../../src/contract/connector.ts";
import { OAUTH } from "../../../src/contract/manifest/kinds.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useMayManage, useProject } from "../../api/project.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible } from "../../parts/visible.tsx";

/** The connectors of the default branch. Those with OAuth are connected here. */
export function Connectors() {
  const project = useProject();
  const { data, error, isPending, refetch } = useGet<{ connectors: Connector[] }>(
    [project.project_id, "connector"],
    path`/projects/${project.project_id}/connectors`,
  );
  return (
    <Section
      title="Connectors"
      about="Services whose tools agents can call through svc, without their credentials. They are defined in svc.toml on the default branch."
    >
      <Failure error={error} retry={() => void refetch()} />
      {isPending && <Loading what="Loading the connectors" />}
      {data?.connectors.length === 0 && <p className="text-muted">No connectors.</p>}
      <ul className="divide-y divide-line">
        {data?.connectors.map((connector) => (
          <Row key={connector.slug} connector={connector} />
        ))}
      </ul>
    </Section>
  );
}

function Row({ connector }: { connector: Connector }) {
  const { slug, type, url, spec, auth, secret_missing: isMissing } = connector;
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          <Visible>{slug}</Visible>
          {isMissing && <Badge look="warn">{auth === OAUTH ? "Not connected" : "Secret not set"}</Badge>}
        </p>
        <p className="break-words text-muted text-sm">
          {type} · <Visible>{url ?? spec ?? ""}</Visible>
          {auth !== null && auth !== OAUTH && (
            <>
              {" "}
              · <Visible>{auth}</Visible>
            </>
          )}
          {connector.connected_at !== null && (
            <>
              {" "}
              · connected{" "}
              {connector.connected_by && (
                <>
                  by <Visible>{connector.connected_by.name}</Visible>{" "}
                </>
              )}
              <Ago at={connector.connected_at} />
            </>
          )}
        </p>
      </div>
      {auth === OAUTH && <Access connector={connector} />}
    </li>
  );
}

/** The buttons to connect and to disconnect. Only owners and admins may. */
function Access({ connector: { slug, secret_missing: isMissing } }: { connector: Connector }) {
  const project = useProject();
  const mayManage = useMayManage(project) === true;
  const queries = useQueryClient();
  const at = path`/projects/${project.project_id}/connectors/${slug}/connect`;
  const connect = useMutation({
    mutationFn: () => call<ConnectorConsent>("POST", at),
    onSuccess: ({ authorization_url }) => window.location.assign(authorization_url),
  });
  const disconnect = useMutation({
    mutationFn: () => call("DELETE", at),
    onSettled: () => queries.invalidateQueries({ queryKey: [project.project_id, "connector"] }),
  });
  if (!mayManage) return null;
  return (
    <div className="flex flex-col items-end gap-2">
      {isMissing ? (
        <Button
          busy={connect.isPending || connect.isSuccess}
          onClick={() => connect.mutate()}
          aria-label={`Connect ${slug}`}
        >
          Connect
        </Button>
      ) : (
        <Button
          look="danger"
          busy={disconnect.isPending}
          onClick={() => disconnect.mutate()}
          aria-label={`Disconnect ${slug}`}
        >
          Disconnect
        </Button>
      )}
      <Failure error={connect.error ?? disconnect.error} />
    </div>
  );
}
