//! The names in the demo's table: an invented shop's services, places, devices and tags.

/// Services, the busiest first.
pub(crate) const SERVICES: &str = "gateway search checkout catalog session cart recommend pricing \
    profile media inventory payment notify ads login feed review shipping address wishlist coupon \
    loyalty tax fraud risk ledger invoice refund support chat email sms push geo maps weather \
    currency translate thumbnail video audio upload download archive audit billing quota flags \
    experiment metrics tracing config secrets scheduler webhook importer exporter cron backup \
    sandbox";

/// The resources of a service's endpoints; the busiest first.
pub(crate) const RESOURCES: &str =
    "items summary details list status history settings suggestions batch events preview";

/// The actions on a resource.
pub(crate) const ACTIONS: &str = "get update remove";

/// Datacenters.
pub(crate) const DATACENTERS: &str = "iad1 fra2 sin1 gru1 pdx2 bom1 nrt1 dub1";

/// Countries by ISO 3166 code, the busiest first.
pub(crate) const COUNTRIES: &str = "US IN BR DE GB JP ID FR MX IT TR ES CA KR PH VN TH NL PL AU AR \
    CO ZA MY EG SA UA RO CL PE SE BE CZ PT GR HU CH AT IL DK FI NO IE NZ SG HK TW AE PK BD NG KE MA \
    DZ TN GH ET TZ UG CI CM SN ZW ZM AO MZ RW BW NA MU MG ML BF NE TG BJ GN GA CG CD SD LY IQ IR SY \
    JO LB KW QA BH OM YE AF UZ KZ KG TJ TM AZ GE AM BY MD LT LV EE BG RS HR SI SK BA MK AL ME IS LU \
    MT CY LI MC SM AD EC VE BO PY UY CR PA GT HN SV NI DO CU JM TT HT BS BB GY SR BZ LC GD VC AG DM \
    KN LK NP MM KH LA MN BN MV BT TL PG FJ SB VU WS TO KI FM MH PW NR TV MO CN RU KP PR GU VI BM KY \
    AW CW SX GP MQ GF RE YT NC PF GL FO GI JE GG IM AX SJ CV ST GW GM SL LR SO DJ ER BI MW LS SZ KM \
    SC MR TD CF GQ SS EH";

/// Applications that send client rows, the most used first.
pub(crate) const APPS: &str = "shop-android shop-ios shop-web seller-android seller-ios";

/// Makers of devices; models are numbered.
pub(crate) const MAKERS: &str = "Aurora Borealis Cirrus Delta Ember Fjord Glacier Horizon Iris Juno \
    Kestrel Lumen Meridian Nimbus Orbit Pebble";

/// The first words of a message.
pub(crate) const PHRASES: [&str; 8] = [
    "request handled for",
    "cache miss, loaded from store for",
    "cache hit for",
    "retried upstream once for",
    "rate limit checked for",
    "session renewed for",
    "partial answer sent for",
    "slow dependency noted for",
];

/// First halves of tags.
pub(crate) const TAG_GROUPS: &str = "feature team tier cohort cache region campaign plan shard \
    client";

/// Parts of function names, outermost layer first.
pub(crate) const FRAME_LAYERS: [&str; 6] =
    ["runtime", "http", "middleware", "handler", "storage", "codec"];

/// The verbs of function names.
pub(crate) const FRAME_VERBS: &str = "read write parse send poll load store find merge check encode \
    decode fetch apply route lock wait retry split join open close flush";

/// The objects of function names.
pub(crate) const FRAME_NOUNS: &str = "request response header body session token row page index \
    query result batch key value cursor stream socket pool entry record";

/// The words of a list.
pub(crate) fn words(list: &'static str) -> Vec<&'static str> {
    list.split_ascii_whitespace().collect()
}
