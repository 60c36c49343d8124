-- The release before can run on it: it knows none of these tables, and leaves them as they are.

-- The mailbox providers of well-known domains. Other domains are counted together.
create table provider_domains (
  domain text collate "C" primary key,
  provider text collate "C" not null
);
insert into provider_domains (domain, provider)
select domain, provider from (values
  ('google', '{gmail.com,googlemail.com}'::text[]),
  ('microsoft', '{outlook.com,outlook.de,outlook.fr,outlook.es,outlook.it,outlook.jp,outlook.com.br,hotmail.com,hotmail.co.uk,hotmail.de,hotmail.fr,hotmail.es,hotmail.it,hotmail.com.br,hotmail.nl,live.com,live.co.uk,live.de,live.fr,live.nl,live.it,live.com.au,msn.com,passport.com}'),
  ('yahoo', '{yahoo.com,yahoo.co.uk,yahoo.de,yahoo.fr,yahoo.es,yahoo.it,yahoo.ca,yahoo.co.in,yahoo.in,yahoo.com.br,yahoo.com.au,yahoo.com.mx,yahoo.com.ar,yahoo.com.ph,yahoo.com.sg,yahoo.com.tw,yahoo.com.hk,ymail.com,rocketmail.com,aol.com,aol.co.uk,aol.de,aim.com,verizon.net,att.net,sbcglobal.net,bellsouth.net}'),
  ('apple', '{icloud.com,me.com,mac.com}'),
  ('proton', '{proton.me,protonmail.com,protonmail.ch,pm.me}'),
  ('fastmail', '{fastmail.com,fastmail.fm}'),
  ('zoho', '{zoho.com,zohomail.com,zoho.eu}'),
  ('gmx', '{gmx.com,gmx.de,gmx.net,gmx.at,gmx.ch,gmx.fr,gmx.us,web.de,mail.com,email.com,1und1.de,online.de}'),
  ('t-online', '{t-online.de,magenta.de}'),
  ('freenet', '{freenet.de}'),
  ('orange', '{orange.fr,wanadoo.fr}'),
  ('free', '{free.fr}'),
  ('laposte', '{laposte.net}'),
  ('sfr', '{sfr.fr,neuf.fr,cegetel.net}'),
  ('libero', '{libero.it,virgilio.it,iol.it,inwind.it}'),
  ('comcast', '{comcast.net}'),
  ('charter', '{charter.net,spectrum.net,roadrunner.com,rr.com}'),
  ('cox', '{cox.net}'),
  ('bt', '{btinternet.com,btopenworld.com}'),
  ('sky', '{sky.com}'),
  ('virgin', '{virginmedia.com,ntlworld.com,blueyonder.co.uk}'),
  ('talktalk', '{talktalk.net,tiscali.co.uk}'),
  ('yandex', '{yandex.ru,yandex.com,ya.ru,yandex.by,yandex.kz,yandex.ua,narod.ru}'),
  ('mail.ru', '{mail.ru,inbox.ru,list.ru,bk.ru,internet.ru}'),
  ('rambler', '{rambler.ru,lenta.ru,autorambler.ru,ro.ru}'),
  ('seznam', '{seznam.cz,email.cz,post.cz}'),
  ('onet', '{onet.pl,op.pl,vp.pl,onet.eu,poczta.onet.pl}'),
  ('wp', '{wp.pl,o2.pl,tlen.pl}'),
  ('interia', '{interia.pl,interia.eu,poczta.fm}'),
  ('uol', '{uol.com.br,bol.com.br}'),
  ('terra', '{terra.com.br,terra.com}'),
  ('tencent', '{qq.com,foxmail.com,vip.qq.com}'),
  ('netease', '{163.com,126.com,yeah.net,188.com}'),
  ('sina', '{sina.com,sina.cn,vip.sina.com}'),
  ('naver', '{naver.com}'),
  ('daum', '{daum.net,hanmail.net,kakao.com}'),
  ('docomo', '{docomo.ne.jp}'),
  ('au', '{ezweb.ne.jp,au.com}'),
  ('softbank', '{softbank.ne.jp,i.softbank.jp}'),
  ('rediff', '{rediffmail.com}'),
  ('bluewin', '{bluewin.ch,hispeed.ch}'),
  ('telenet', '{telenet.be}'),
  ('proximus', '{skynet.be,proximus.be}'),
  ('kpn', '{kpnmail.nl,planet.nl,hetnet.nl,xs4all.nl}'),
  ('ziggo', '{ziggo.nl,home.nl,upcmail.nl}'),
  ('telia', '{telia.com}'),
  ('rogers', '{rogers.com}'),
  ('shaw', '{shaw.ca}'),
  ('bell', '{bell.net,sympatico.ca}'),
  ('telstra', '{bigpond.com,bigpond.net.au}'),
  ('optus', '{optusnet.com.au}')
) as known (provider, domains) cross join lateral unnest(domains) as d (domain);

-- The progress of a roll-up. Minutes before final_until are final; those between the two have been computed once and
-- are computed again after the time by which late commits have arrived.
create table roll_ups (
  name text collate "C" primary key,
  early_until timestamptz not null,
  final_until timestamptz not null
);
insert into roll_ups (name, early_until, final_until)
select name, date_trunc('minute', clock_now()), date_trunc('minute', clock_now())
from unnest('{stats,failures}'::text[]) as n (name);

-- Outcomes of a minute, counted in recipients. An empty workspace means the whole instance. Of each dimension the
-- busiest keys of the minute have their own rows, the others share the row with the empty key. The two histograms
-- are objects from a bin to a count; the bins are those of stats/mail-times.ts.
create table stat_minutes (
  workspace_id uuid not null,
  dimension text collate "C" not null check (dimension in ('none', 'domain', 'tag', 'provider', 'destination', 'api_key')),
  at timestamptz not null,
  key text collate "C" not null,
  accepted integer not null,
  delivered integer not null,
  bounced integer not null,
  deferred integer not null,
  failed integer not null,
  complained integer not null,
  suppressed integer not null,
  canceled integer not null,
  first_attempt jsonb,
  delivery jsonb,
  primary key (workspace_id, dimension, at, key)
);
-- Serves recomputation and pruning.
create index stat_minutes_at on stat_minutes (at);
create table stat_hours (like stat_minutes including all);
create table stat_days (like stat_minutes including all);

-- The time of the last delivery per kind of mail, shown beside a backlog.
create table last_successes (
  dimension text collate "C" not null,
  key text collate "C" not null,
  workspace_id uuid not null,
  at timestamptz not null,
  primary key (dimension, key, workspace_id)
);
create index last_successes_at on last_successes (at);

-- Groups of similar failures, by the signature of failures/signature.ts.
create table failure_groups (
  workspace_id uuid not null,
  id text collate "C" not null,
  kind text collate "C" not null check (kind in ('smtp', 'webhook', 'job', 'dns')),
  signature text not null,
  code integer,
  enhanced_code text,
  sample text not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (workspace_id, id)
);
create index failure_groups_last_seen on failure_groups (last_seen_at);

-- Counts per minute and destination. The destinations of a group with most failures have their own rows, the others
-- share the row with the empty destination.
create table failure_minutes (
  workspace_id uuid not null,
  kind text collate "C" not null,
  at timestamptz not null,
  group_id text collate "C" not null,
  destination text collate "C" not null,
  count integer not null,
  primary key (workspace_id, kind, at, group_id, destination)
);
create index failure_minutes_at on failure_minutes (at);
create table failure_hours (like failure_minutes including all);

-- Failed webhook deliveries, by the time of their last attempt. One that succeeds at first is never in it.
create index webhook_deliveries_failing on webhook_deliveries (last_attempt_at)
  where last_attempt_at is not null and (response_status is null or response_status < 200 or response_status > 299);

-- Open recipients as last counted by a job. Unlogged: after a crash they are counted again.
create unlogged table backlog_rows (
  workspace_id uuid not null,
  dimension text collate "C" not null,
  key text collate "C" not null,
  total integer not null,
  counts integer[] not null,
  oldest_at timestamptz not null,
  -- The newest message with a reply from the destination, and the oldest that waits.
  answered_message_id uuid,
  oldest_message_id uuid,
  primary key (workspace_id, dimension, key)
);
-- Destinations are counted from recipients alone; the other kinds need messages too, which is slower and less frequent.
create unlogged table backlog_snapshots (
  part text collate "C" primary key check (part in ('recipients', 'messages')),
  measured_at timestamptz,
  -- The process that finds this in the past counts next, and advances it.
  next_at timestamptz not null
);
