//! Starts a worker under a policy of trusted scripts.
//!
//! The page forbids strings as script addresses, so the addresses the build knows pass through one
//! named policy and nothing else does. Where workers cannot start, the caller computes on the page.

interface TrustedScripts {
  createScriptURL(url: string): unknown;
}
interface TrustedFactory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): TrustedScripts;
}

let policy: TrustedScripts | null = null;

function trusted(url: string): string {
  const factory = (globalThis as { trustedTypes?: TrustedFactory }).trustedTypes;
  if (!factory) return url;
  policy ??= factory.createPolicy('a-society-worker', {
    createScriptURL(address) {
      const full = new URL(address, location.href);
      if (full.origin !== location.origin || !full.pathname.startsWith('/assets/')) throw new TypeError('not a worker of this page');
      return full.href;
    },
  });
  return policy.createScriptURL(url) as string;
}

/** Longer than this a worker is given up and the page computes itself. */
const ANSWER_WITHIN_MS = 8000;

/** One question, one answer, and the worker is gone. */
export async function ask<Question, Answer>(url: string, question: Question): Promise<Answer> {
  if (url === '') throw new Error('no worker can start here');
  const worker = new Worker(trusted(url), { type: 'module' });
  try {
    return await new Promise<Answer>((done, fail) => {
      const timer = setTimeout(() => fail(new Error('the worker did not answer')), ANSWER_WITHIN_MS);
      worker.onmessage = (e: MessageEvent<Answer>) => {
        clearTimeout(timer);
        done(e.data);
      };
      worker.onerror = () => {
        clearTimeout(timer);
        fail(new Error('the worker could not start'));
      };
      worker.postMessage(question);
    });
  } finally {
    worker.terminate();
  }
}
