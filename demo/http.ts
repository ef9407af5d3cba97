/** The body of a 200. @throws Error that names the URL. */
export async function get(url: string): Promise<string> {
  const response = await fetch(url).catch((error: unknown) => {
    throw new Error(`${url} cannot be reached: ${reasonOf(error)}`);
  });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return response.text();
}

/** `fetch` hides why it failed in a cause. */
function reasonOf(error: unknown): string {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return reason instanceof Error ? reason.message : String(reason);
}
