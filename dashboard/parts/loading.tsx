import { useEffect, useState } from "react";

/** What is there at once needs no word for that it is coming. */
const PATIENCE_MS = 300;

/** Says that something is coming, once it takes a while. */
export function Loading({ what = "Loading" }: { what?: string }) {
  const [isSlow, setIsSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsSlow(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p role="status" className="py-6 text-muted">
      {isSlow ? `${what} …` : ""}
    </p>
  );
}
