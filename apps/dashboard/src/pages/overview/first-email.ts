import { curlOf } from '../../parts/calls/curl.ts';
import type { Language } from './languages.ts';

const email = {
  from: 'hello@sandbox.test',
  to: 'you@example.com',
  subject: 'My first email',
  text: 'It works.',
};

const KEY = 'POSTRIDER_API_KEY';

export function programIn(language: Language, origin: string): string {
  const url = `${origin}/v1/email/send`;
  const body = JSON.stringify(email, null, 2);
  switch (language) {
    case 'curl':
      return curlOf(email);
    case 'typescript':
      return `const response = await fetch('${url}', {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.${KEY}}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(${indented(body)}),
});
console.log(response.status, await response.json());`;
    case 'python':
      return `import json, os, urllib.request

request = urllib.request.Request(
  "${url}",
  data=json.dumps(${indented(body)}).encode(),
  headers={
    "Authorization": "Bearer " + os.environ["${KEY}"],
    "Content-Type": "application/json",
  },
)
print(json.load(urllib.request.urlopen(request)))`;
    case 'php':
      return `<?php
$email = ${phpArray()};
$context = stream_context_create(['http' => [
  'method' => 'POST',
  'header' => [
    'Authorization: Bearer ' . getenv('${KEY}'),
    'Content-Type: application/json',
  ],
  'content' => json_encode($email),
]]);
echo file_get_contents('${url}', false, $context);`;
    case 'go':
      return `package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

func main() {
	email := \`${body}\`
	request, _ := http.NewRequest("POST", "${url}", strings.NewReader(email))
	request.Header.Set("Authorization", "Bearer "+os.Getenv("${KEY}"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	text, _ := io.ReadAll(response.Body)
	fmt.Println(response.Status, string(text))
}`;
  }
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

function phpArray(): string {
  return `[\n${Object.entries(email)
    .map(([name, value]) => `  '${name}' => '${value}',`)
    .join('\n')}\n]`;
}
