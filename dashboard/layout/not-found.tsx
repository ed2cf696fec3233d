import { SearchX } from "lucide-react";
import { LinkButton } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";

export function NotFound() {
  return (
    <Page title="Page not found">
      <Empty title="There is no page at this address" icon={SearchX}>
        <p className="mb-4">The address is wrong, or the page was removed.</p>
        <LinkButton to="/">All projects</LinkButton>
      </Empty>
    </Page>
  );
}
