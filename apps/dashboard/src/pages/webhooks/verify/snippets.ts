import type { Language } from '../search.ts';

type Format = 'postrider' | 'resend';

/** The prefix of the three signature headers. Resend's format uses Svix's prefix. */
const prefixes: Readonly<Record<Format, string>> = { postrider: 'webhook', resend: 'svix' };

/**
 * Returns a program that verifies a webhook request using only the language's standard library. The browser suite runs
 * each program.
 */
export function snippetOf(language: Language, format: Format): string {
  return snippets[language].replaceAll('PREFIX', prefixes[format]);
}

/** The file name of each snippet. */
export const fileNames: Readonly<Record<Language, string>> = {
  typescript: 'verify.ts',
  python: 'verify.py',
  go: 'verify.go',
  php: 'verify.php',
  shell: 'verify.sh',
};

const snippets: Readonly<Record<Language, string>> = {
  typescript: `import { createHmac, timingSafeEqual } from 'node:crypto';

/** headers with names in lower case; body as it came, before a parser has touched it. */
export function verify(secret: string, headers: Record<string, string | undefined>, body: Uint8Array): boolean {
  const id = headers['PREFIX-id'] ?? '';
  const sent = headers['PREFIX-timestamp'] ?? '';
  // An old post may be a replay.
  if (!(Math.abs(Date.now() / 1000 - Number(sent)) <= 300)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(\`\${id}.\${sent}.\`).update(body).digest();
  return (headers['PREFIX-signature'] ?? '').split(' ').some((one) => {
    const given = Buffer.from(one.replace(/^v1,/, ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}
`,
  python: `import base64
import hashlib
import hmac
import time


def verify(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """headers with names in lower case; body as it came, before a parser has touched it."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    sent = headers["PREFIX-timestamp"]
    if abs(time.time() - int(sent)) > 300:  # An old post may be a replay.
        return False
    signed = f"{headers['PREFIX-id']}.{sent}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    given = [one.partition(",")[2] for one in headers["PREFIX-signature"].split() if one.startswith("v1,")]
    return any(hmac.compare_digest(one, expected) for one in given)
`,
  go: `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Verify takes the body as it came, before a parser has touched it.
func Verify(secret string, headers http.Header, body []byte) bool {
	id, sent := headers.Get("PREFIX-id"), headers.Get("PREFIX-timestamp")
	at, err := strconv.ParseInt(sent, 10, 64)
	// An old post may be a replay.
	if err != nil || math.Abs(float64(time.Now().Unix()-at)) > 300 {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + sent + "."))
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, given := range strings.Fields(headers.Get("PREFIX-signature")) {
		if hmac.Equal([]byte(given), []byte(expected)) {
			return true
		}
	}
	return false
}
`,
  php: `<?php

/** $headers with names in lower case; $body as it came: file_get_contents('php://input'). */
function verify(string $secret, array $headers, string $body): bool
{
    $sent = $headers['PREFIX-timestamp'] ?? '';
    if (abs(time() - (int) $sent) > 300) { // An old post may be a replay.
        return false;
    }
    $key = base64_decode(preg_replace('/^whsec_/', '', $secret));
    $signed = ($headers['PREFIX-id'] ?? '') . ".$sent.$body";
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
    foreach (explode(' ', $headers['PREFIX-signature'] ?? '') as $given) {
        if (hash_equals($expected, $given)) {
            return true;
        }
    }
    return false;
}
`,
  shell: `# The body as it came is in body.json; ID, SENT and SIGNATURE are the headers
# PREFIX-id, PREFIX-timestamp and PREFIX-signature.
key=$(printf %s "\${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \\n')
expected=$({ printf '%s.%s.' "$ID" "$SENT"; cat body.json; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
age=$(( $(date +%s) - SENT ))
[ "\${age#-}" -le 300 ] || exit 1 # An old post may be a replay.
case " $SIGNATURE " in
  *" v1,$expected "*) exit 0 ;;
  *) exit 1 ;;
esac
`,
};
