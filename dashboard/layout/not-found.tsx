import { Link } from "wouter";
import { Page } from "../parts/page.tsx";

export function NotFound() {
  return (
    <Page title="Page not found">
      <p>
        The address is wrong, or the page was removed.{" "}
        <Link href="/" className="text-accent underline">
          All projects
        </Link>
      </p>
    </Page>
  );
}
