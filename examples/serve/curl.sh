#!/bin/sh
# Seen before? With curl, against a server that was started with: neardup serve data
#
#     sh examples/serve/curl.sh [http://127.0.0.1:7700]
#
# A server with keys wants NEARDUP_KEY in the environment.
set -eu

url=${1:-http://127.0.0.1:7700}
pages=$url/v1/indexes/curl-example

ask() { # method, URL, and for a body its content type and itself
    if [ $# -gt 2 ]; then
        set -- -X "$1" "$2" -H "Content-Type: $3" --data-binary "$4"
    else
        set -- -X "$1" "$2"
    fi
    curl -sS --fail-with-body ${NEARDUP_KEY:+-H "Authorization: Bearer $NEARDUP_KEY"} "$@"
    echo
}

echo "One document: new, and added. The index is made by the first request."
ask POST "$pages/check?create=true" application/json \
    '{"id": "https://example.org/notice", "text": "The library will be closed on Monday, because the books are being counted and the shelves repaired.", "metadata": {"lang": "en"}}'

echo "Almost the same text under another id: seen, and the match says where."
ask POST "$pages/check" application/json \
    '{"id": "https://example.org/print/notice", "text": "The library will be closed on Monday because the books are being counted and the shelves repaired!"}'

echo "Many documents, a line each; one answer line for each."
ask POST "$pages/check" application/x-ndjson \
    '{"id": "de-1", "text": "Für den Pflaumenkuchen einen Teig aus Mehl, Butter, Zucker und Hefe kneten und ausrollen."}
{"id": "de-2", "text": "FÜR DEN PFLAUMENKUCHEN EINEN TEIG AUS MEHL, BUTTER, ZUCKER UND HEFE KNETEN UND AUSROLLEN"}
{"id": "zh-1", "text": "受台风影响，沿海地区今晚到明天有大到暴雨，阵风可达十级。渔船应尽快回港。"}
{"id": "ar-1", "text": "ضاعت قطة بيضاء صغيرة ذات عينين زرقاوين قرب سوق الزهور مساء الجمعة الماضي"}'

echo "A question that changes nothing."
ask POST "$pages/query?threshold=0.9" application/json \
    '{"text": "受台风影响，沿海地区今晚到明天有大到暴雨，阵风可达十级，渔船应尽快回港"}'

echo "A stored document; its id is percent-encoded."
ask GET "$pages/documents/https%3A%2F%2Fexample.org%2Fnotice"

echo "Two texts compared: what they share, and how they differ."
ask POST "$url/v1/compare" application/json \
    '{"a": "to be or not to be", "b": "to be or not to bop"}'
