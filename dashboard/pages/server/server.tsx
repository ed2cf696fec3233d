import { useMe } from "../../api/accounts.ts";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Upstreams } from "../models/upstreams.tsx";

/** The settings of the server, for its operators. */
export function Server() {
  const { data: me, error, refetch } = useMe();
  return (
    <Page title="Server">
      <div className="max-w-5xl">
        {me === undefined ? (
          <Failure error={error} retry={() => void refetch()} />
        ) : (
          <Settings isOperator={me.is_operator} />
        )}
        {me === undefined && !error && <Loading />}
      </div>
    </Page>
  );
}

function Settings({ isOperator }: { isOperator: boolean }) {
  if (!isOperator) return <p className="text-muted">Only operators of this server can see its settings.</p>;
  return (
    <Upstreams
      of="server"
      queryKey={["server", "model_upstream"]}
      at="/server/model-upstreams"
      about="The upstreams that run the models of agents in all projects: services such as OpenAI, or your own. svc calls them, and keeps their keys from the agents. A project's own upstreams come first."
      empty="The server has no model upstreams. Projects can have their own."
      mayManage
    />
  );
}
