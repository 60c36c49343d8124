/** Returns a delivery report (RFC 3464) about one address, as a mail server would send it. */
export function deliveryReport(facts: {
  readonly address: string;
  readonly action: string;
  readonly status: string;
  readonly diagnostic?: string;
}): string {
  return [
    'From: Mail Delivery System <MAILER-DAEMON@mx.example.com>',
    'Subject: Delivery Status Notification',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="report"',
    '',
    '--report',
    'Content-Type: text/plain; charset=us-ascii',
    '',
    'This is the mail system.',
    '--report',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.com',
    '',
    `Final-Recipient: rfc822; ${facts.address}`,
    `Action: ${facts.action}`,
    `Status: ${facts.status}`,
    ...(facts.diagnostic ? [`Diagnostic-Code: smtp; ${facts.diagnostic}`] : []),
    '',
    '--report',
    'Content-Type: text/rfc822-headers',
    '',
    'Subject: Hello',
    '--report--',
    '',
  ].join('\n');
}

/** Returns a complaint (RFC 5965). */
export function complaintReport(feedback_type: string): string {
  return [
    'From: complaints@example.com',
    'Subject: FW: Hello',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="report"',
    '',
    '--report',
    'Content-Type: text/plain',
    '',
    'This is a complaint.',
    '--report',
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${feedback_type}`,
    'User-Agent: Loop/1.0',
    'Version: 1',
    '',
    '--report',
    'Content-Type: message/rfc822',
    '',
    'Subject: Hello',
    '',
    'Hi',
    '--report--',
    '',
  ].join('\n');
}
