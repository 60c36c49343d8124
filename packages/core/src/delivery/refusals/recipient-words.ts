import { phrases, type RefusalRule } from './rule.ts';

// Words about the recipient: mailboxes that are full, out of use, or nonexistent, and domains without mail.

/** These come before all words about a mailbox, because some servers send these texts with 5.2.1, 5.1.1 or 5.7.1. */
export const quotaWords = {
  'mailbox is full': {
    category: 'quota',
    text: phrases(
      '(?:mail ?box|mbox|inbox|mail ?folder|account|user|recipient|maildir|storage|disk|mail ?drop|directory|mailfile|message store|destination)s?\\b[^.]{0,60}(?:\\b(?:is|has|are|was) )?(?:\\bfull\\b|over ?quota|exceed\\w*[^.]{0,40}(?:quota|storage|limit|space|size|capacity)|out of (?:storage|space|disk)|too many messages)|(?:mail ?box|mail ?file|inbox) (?:is )?too large',
      '\\bfull (?:mail ?box|inbox|quota)|(?:mail ?box|inbox) ?full|mail ?folder is full',
      'over (?:the |his |her |its |their |allocated |maximum |allowed )*(?:quota|storage)|quota (?:is |has been |was )?(?:exceeded|exhausted|full|violation|reached)|exceed\\w* (?:the |its |his |her |their |storage |allocated |allowed |maximum |disk |mailbox )*quota',
      'quota (?:would be|will be) exceeded|(?:mailbox|storage|disk) quota|user is over|quota ?exceeded ?exception|hard quota|\\boverquota\\b|\\bquota\\b.{0,30}\\bexceed',
      'insufficient (?:disk|storage|system storage|space|quota|mailbox)|no (?:space|room) left|not enough (?:storage|space|room|quota)|no (?:storage )?(?:space|room) (?:available|in|for|on)',
      'exceeded (?:storage|the storage|mailbox|the local limit|its storage)|storage allocation|exceeded the (?:maximum )?(?:number of messages|mailbox)|number of messages in recipient.s mailbox',
      'mail ?box (?:size|storage|space) (?:limit|exceed|is)|(?:mailbox|storage) (?:limit|capacity)|(?:maximum|max) (?:mailbox|storage|allowed) (?:size|capacity)|user mailbox exceeds|would (?:exceed|overflow|cause)[^.]{0,40}(?:quota|mailbox|storage|limit)',
      'delivery to this (?:user|mailbox) would exceed|account has exceeded|has reached (?:the|its|his|their) (?:maximum|storage|quota|limit)|too much mail (?:data|stored|in)|disk (?:is )?full|dis[ck] ?(?:space )?quota|overdrawn|mailfolder',
      'voll\\b.{0,20}postfach|postfach[^.]{0,60}(?:\\bvoll|überfüllt|kontingent|überschritten|speicherplatz)|speicher(?:platz|limit)[^.]{0,40}(?:überschritten|erschöpft|voll)|quota überschritten',
      'bo[iî]te (?:aux lettres|de réception|mail)[^.]{0,40}(?:pleine|satur|quota)|quota dépassé|espace[^.]{0,20}insuffisant',
      'buz[oó]n[^.]{0,40}(?:llen[oa]|cuota|límite|excedid)|cuota (?:excedida|superada)|casella[^.]{0,40}piena|caixa[^.]{0,40}(?:cheia|lotada|cota)|cota excedida|postbus[^.]{0,30}vol\\b|mailbox is vol',
      '(?:почтовый )?ящик[^.]{0,40}(?:переполнен|заполнен|полон)|превышен[^.]{0,30}(?:квот|размер|лимит)|skrzynk\\S+[^.]{0,30}(?:pełna|przepełnion)|(?:schránka|kutusu|postafiók)[^.]{0,30}(?:plná|dolu|megtelt)',
      '(?:邮箱|信箱|空间|容量|郵箱)[^。]{0,20}(?:已满|已滿|满了|不足|超出|超过|超過)|(?:メールボックス|受信箱|保存容量|容量|ボックス)[^。]{0,30}(?:一杯|いっぱい|満杯|超過|超え|オーバー|あふれ)|(?:편지함|메일함|용량)[^.]{0,20}(?:초과|가득|부족)',
    ),
  },
} as const satisfies Record<string, RefusalRule>;

/** These come before the words for a nonexistent mailbox: the owner may come back, so the address is not suppressed. */
export const disabledWords = {
  'mailbox is disabled': {
    category: 'mailbox',
    text: phrases(
      '(?:mail ?box|account|user|recipient|address|customer|subscriber|postfach|mail(?=\\b.{0,10}\\b(?:is|has been) (?:disabled|suspended|deactivated)))s?\\b(?: name)?[^.;:]{0,60}?\\b(?:is |has been |have been |was |are |temporarily |currently |: )*\\b(?:disabled|inactive|suspended|deactivated|discontinued|locked|on hold|frozen|dormant|hibernat\\w*|expired|archived|restricted|limited|out of service|not (?:currently )?active|in ?activated|gesperrt|deaktiviert|désactivé|suspendid[oa]|desactivad[oa]|bloqueado|disattivat[oa]|sospes[oa]|desativad[oa]|inativ[oa])',
      '(?:disabled|inactive|suspended|deactivated|locked|frozen|dormant|expired|blocked) (?:mail ?box|account|user|recipient|e-?mail address)',
      '(?:mail ?box|account|user|recipient)[^.;:]{0,40}\\b(?:is |has been |was |temporarily |currently )+(?:blocked|closed|terminated|canceled|cancelled)|account (?:closed|terminated|cancell?ed)',
      '(?:mailbox|account|user|recipient) (?:temporarily )?(?:blocked|locked|disabled|suspended|inactive)|temporarily (?:locked|suspended|inactive|disabled)|extended inactivity|due to inactivity|invalid\\/inactive|inactive for',
      'delivery to this (?:account|user|address) (?:is|has been) (?:suspended|disabled|stopped)|has been (?:disabled|suspended|deactivated|locked)|(?:currently|temporarily) not (?:accepting|receiving) (?:e-?mail|mail|messages)',
      'not accepting (?:any )?(?:new )?(?:e-?mail|mail|messages) (?:for this|at this)|mail ?box (?:unavailable or access|currently)|unavailable or access denied|user (?:has )?(?:suspended|disabled)|recipient suspend|is not accepting any',
      '(?:аккаунт|ящик|пользовател\\S+|почтовый ящик)[^.]{0,40}(?:заблокирован|отключ[её]н|неактив|приостановлен)|(?:账号|帐号|邮箱|用户)[^。]{0,12}(?:停用|禁用|冻结|锁定|过期)|(?:アカウント|メールボックス)[^。]{0,20}(?:停止|無効|凍結|ロック)|휴면|정지된',
    ),
  },
  // The address matches several mailboxes: it may well be a valid address that is abbreviated too much.
  'address is ambiguous': {
    category: 'mailbox',
    text: /not unique|\bambiguous\b|(?:several|multiple) matches/i,
  },
} as const satisfies Record<string, RefusalRule>;

/**
 * These concern the whole domain. They are never a reason to suppress an address, because the owner of the domain may
 * fix the problem.
 */
export const domainWords = {
  // In a greeting, 521 may also reject just one client.
  'host takes no mail': { category: 'domain', code: [521, 556], hard: true },
  'host or domain takes no mail': {
    category: 'domain',
    text: phrases(
      'null ?mx|(?:host|domain|server|system|machine|site)\\b[^.;]{0,60}does(?: not|n.t) accept (?:any )?(?:e-?mail|mail|smtp|messages)|(?:host|domain)[^.;]{0,30}(?:never|not) accept(?:s|ing)? (?:any )?mail|destination seems? to reject all mails?|not a mail (?:server|host|exchanger)|no mail service',
    ),
    hard: true,
  },
  // A failed name server says nothing about the domain.
  'domain cannot be looked up now': {
    category: 'network',
    text: phrases(
      '\\b(?:host|domain|dns|name|mx|lookup)\\b.{0,120}try again|temporar(?:y|ily)[^.]{0,30}(?:dns|lookup|resol)|(?:dns|name server|lookup|resol)[^.]{0,30}temporar|name server (?:timeout|time-?out|did not|error)|server failure|servfail|soft(?:fail| error)|malformed (?:or unexpected )?name server reply|could be reached at this time',
    ),
    for_now: true,
  },
  'domain does not exist': {
    category: 'domain',
    text: phrases(
      '(?:host|domain|hostname|host name)s?\\b[^.;:]{0,40}(?:not (?:be )?(?:found|known|located|resolved|exist)|do(?:es)?(?: not|n.?t) (?:exist|resolve|have)|unknown|unrouteable|unroutable|nonexist|non-exist|is invalid|inexist)',
      '(?:unknown|no such|invalid|bad|non-?existent|unrouteable|unroutable|illegal|unresolvable|undefined) (?:mail |e-?mail |destination |recipient |remote |target |dest )?(?:domain|host|hostname)',
      '(?:host|domain)(?: name)? (?:lookup failed|not found|unknown)|(?:all )?relevant mx records point to non-existent|no mx (?:record|found|host|or)|couldn.t find (?:any host|a mail exchanger)|can.?not find (?:any )?(?:mail exchanger|domain|host)|could not find (?:any )?(?:mail exchanger|domain|host|gateway|mx)',
      '(?:nxdomain|name or service not known|nonexistentdomain|domain.{0,20}(?:expired|invalid)|bad destination (?:host|system)|dns hard error|remote domain does ?n.?t exist|dns domain .{0,60}does not exist|domain must exist|mail domain|no (?:a|dns|address|mail exchanger|valid) (?:record|or mx|mx|host)\\w*)',
      '(?:host|domain) (?:address )?lookups? failed permanently|all host address lookups failed|no valid (?:hosts?|mx)|illegal host|domain (?:is )?(?:not reachable|does not have)|name service error for|dns error: (?:domain|dns type)|address lookup failed|dns records for the destination',
      'domain[^.;]{0,20}isn.t (?:valid|hosted)|unrouteable (?:mail )?domain|host unreachable|domain (?:of )?(?:recipient|the recipient)[^.]{0,30}(?:not|does)|hôte (?:inconnu|introuvable)|domaine[^.]{0,30}(?:n.existe pas|introuvable|inconnu)|domäne[^.]{0,40}nicht|dominio[^.]{0,30}(?:no existe|non esiste|inesistente)|домен[^.]{0,30}не (?:существует|найден)|域名[^。]{0,12}(?:不存在|无法)|ドメイン[^。]{0,20}(?:存在しません|見つかりません)',
    ),
    hard: true,
  },
} as const satisfies Record<string, RefusalRule>;

/**
 * These come after all other words but before the codes, because the words for an unknown user are clearer than 5.7.1
 * or 5.0.0.
 */
export const unknownUserWords = {
  'mailbox does not exist': {
    category: 'mailbox',
    text: phrases(
      // "<noun> … is unknown", and the same in other orders.
      '(?:user(?:name)?|user ?id|mail ?box|account|recipient|address|alias|mail ?address|mail ?account|addressee|destination|e-?mail|member|subscriber|person|customer|postfach|empf\\S+nger|adresse|local.?part|inbox|rcpt|name)(?:s|\\(s\\))?\\b[^.;]{0,70}?(?:\\bunknown|not (?:be )?(?:found|exist|known|listed|valid|available|registered|recogni[sz]ed|hosted|located|resolved|local|defined|a valid|a known|a local|our|ok\\b)|do(?:es)?(?: not|n.t|nt) (?:have|exist|appear|match)|doesnot exist|didn.t exist|no longer|\\binvalid|unavailable|nonexist|non-exist|inexist|not? exist|isn.t (?:valid|known|listed|active|recogni)|could ?n.t be found|wasn.t found|couldn.t be found|undeliverable|unrouteable|unroutable|incorrect|bad\\b|\\bdeleted|\\bremoved|\\bclosed|\\bterminated|\\bcancel|discarded|existiert nicht|unbekannt|nicht (?:gefunden|bekannt|vorhanden|existiert|zugestellt)|missing|has left|not in (?:our|the|this))',
      // "no such user"
      '(?:no such|unknown|invalid|non-?existent|nonexisting|inexistent|bad|undeliverable|unrouteable|unroutable|unreachable|incorrect|wrong|illegal|misspelled|nonexistant|unresolvable|unrecogni[sz]ed|undefined|ungültige?r?|unbekannte?r?) (?:or (?:misspelled|invalid|unknown|inactive) )?(?:local )?(?:final )?(?:delivery )?(?:e-?mail )?(?:user|mail ?box|recipient|account|address|person|destination|addressee|e-?mail|local.?part|member|virtual|alias|rcpt|username|name|subscriber|mail ?drop|empf\\S+nger|adresse|userid|id\\b|directory entry)',
      'there (?:is|was) no (?:user|one|account|mailbox|such|recipient)|no (?:mail ?box|account|user|one|recipients?|addressee|person|subscriber|user account|local mailbox)s?\\b.{0,30}?(?:here|found|by that name|with (?:that|this) name|at this|for|matching|of that|under|exists?|called)|no valid recipients?|no matching (?:recipient|user|address)|all recipients (?:address(?:es)? )?(?:rejected|invalid|refused|were)',
      '(?:recipient|address|user) (?:name )?(?:is )?not recogni[sz]ed|recipient name is not|unknown recipient|recipient unknown|unknown or illegal|unknown or invalid|not (?:an? )?(?:valid|known|registered|existing|active|local|deliverable|recogni[sz]ed|our) (?:user|mailbox|recipient|address|account|customer|e-?mail|subscriber)|is not an? (?:valid|known|active|existing|local|deliverable)',
      'does(?: not|n.t) have an? \\S+ account|addr?ess?(?:ee)? (?:is )?unknown|recipient ?not ?found|\\[#5?\\.?1\\.1\\]|user_unknown|unknown_user|mailbox_not_found|mailbox not (?:found|present|here)|no such address|bad (?:destination )?(?:mailbox|e-?mail|recipient) ?address|bad address|bad recipient|invalid mailbox|verify address failed|address verification failed|undeliverable address|not a (?:member|user) (?:of|at|on) this (?:server|host|system)',
      'not our customer|who are you looking for|can.t (?:find|accept|verify) (?:the |this |that )?(?:user|recipient|mailbox|address)|can ?not (?:find|locate) (?:the |this |your )?(?:user|recipient|mailbox|specified)|could not find (?:the |this )?(?:user|recipient|mailbox|account)|has (?:moved|been moved)|no longer (?:with|at|employed|works|in use|active|valid|available|accepts?|used|exists?|a)\\b|left the (?:company|organi[sz]ation)|has moved to|new address|changed (?:his|her|their) (?:e-?mail|address)|address (?:has )?changed',
      'not listed in (?:the |public )?(?:domino|name|public|directory|address)|domino (?:directory|ディレクトリ)|public name (?:&|and) address book|user missing home|missing home directory|unable to (?:find|locate) (?:the )?(?:user|recipient|mailbox)|user(?: does)? ?n.t exist|user not (?:found|exist|known|active|here)|unknown user|user unknown|account not (?:found|available|exist)|mailbox (?:not|does)',
      // A rejected address without a reason counts as an unknown user.
      'recipient (?:address )?(?:was |has been |is )?(?:rejected|denied|refused|not accepted)(?=[\\s.!]*(?:$|[(\\[#]|for mail|by the))|(?<!recipient )(?<!sender )(?<!return )(?<!from )(?<!ip )address rejected(?!:|;| as| by| because| due)|requested action not taken: (?:mailbox unavailable|no such)|mailbox unavailable|mail ?box invalid|invalid-recipient|badrcptto|validrcptto|bad rcpt|rcpt-?to .{0,20}(?:rejected|refused|invalid)(?=[\\s.!]*$)|#5\\.1\\.1|prohibits? .{0,20}unknown|remote (?:smtp )?server has rejected address',
      // Other languages.
      'n.existe pas|utilisateur[^.]{0,20}inconnu|adresse[^.]{0,60}(?:introuvable|inconnue|n.a pas été trouvée|incorrecte|inexistante|erronée)|destinataire[^.]{0,30}(?:inconnu|introuvable|inexistant)|bo[iî]te[^.]{0,30}inexistante',
      'no existe|no se (?:ha )?(?:encontr|encuentra)|usuario[^.]{0,20}desconocido|destinatario[^.]{0,30}(?:desconocido|inexistente|inv[aá]lid|sconosciuto)|direcci[oó]n[^.]{0,40}(?:no (?:existe|v[aá]lida|encontrada)|incorrecta)|cuenta[^.]{0,20}(?:inexistente|no existe)',
      'non esiste|inesistente|utente[^.]{0,20}(?:sconosciuto|non trovato)|indirizzo[^.]{0,40}(?:non (?:è stato )?trovato|errato|inesistente|sconosciuto)|casella[^.]{0,20}non (?:trovata|disponibile)|não (?:existe|foi (?:possível )?encontrad)|nao existe|usu[aá]rio[^.]{0,20}(?:desconhecido|inexistente|inv)|endereço[^.]{0,30}(?:inválido|inexistente)',
      'bestaat niet|gebruiker[^.]{0,20}onbekend|onbekende (?:gebruiker|ontvanger)|niet (?:worden )?gevonden|finns inte|findes ikke|finnes ikke|okänd (?:användare|mottagare)|ukendt|nie istnieje|nieznany (?:użytkownik|odbiorca)|neexistuje|nem létezik|nu există|bulunamadı|mevcut değil|geçersiz (?:alıcı|adres)',
      'не (?:существует|найден|зарегистрирован)|нет (?:такого|такой|почтового ящика)|неизвестн\\S+ (?:пользовател|получател|адрес)|неверн\\S+ адрес|несуществующ',
      '(?:不存在|找不到[^。，]{0,16}(?:收件人|用户|邮箱|郵箱|地址)|无此(?:用户|邮箱)|查無此|用户未找到|地址(?:错误|无效|有误)|无效(?:的)?(?:收件人|地址|用户)|收件人(?:地址)?(?:错误|无效))',
      '(?:宛先|あて先|アドレス|ユーザ\\S{0,2}|受信者|メールボックス|メールアドレス)[^。]{0,40}(?:不明|存在しません|存在しない|見つかりません|見つからない|間違|誤|無効|ありません|登録されていません)|該当する(?:ユーザ|アドレス|受信者)|(?:존재하지 ?않|없는 (?:사용자|계정|주소)|수신자를 찾을 수 없)',
    ),
    hard: true,
    suppress: true,
  },
} as const satisfies Record<string, RefusalRule>;
